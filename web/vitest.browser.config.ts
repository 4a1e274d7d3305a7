import { defineConfig } from 'vitest/config';

// Browser tests of pages, run on the build in dist/.
export default defineConfig({
  root: '../tests/web',
  test: {
    include: ['*.test.ts'],
    globalSetup: ['clusters_setup.ts'],
    environment: 'node',
    // One browser at a time: the test machines have few cores.
    fileParallelism: false,
    // Long enough for a busy machine. A page that hangs still fails.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
