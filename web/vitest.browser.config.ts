import { defineConfig } from 'vitest/config';

// Tests of pages in a browser, over the build in dist/.
export default defineConfig({
  root: '../tests/web',
  test: {
    include: ['*.test.ts'],
    globalSetup: ['clusters_setup.ts'],
    environment: 'node',
    // One browser at a time: the machines that run this have few cores.
    fileParallelism: false,
    // Long enough for a machine whose cores are busy. A page that hangs still fails.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
