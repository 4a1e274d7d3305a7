import { defineConfig } from 'vitest/config';

// Browser tests of the pages, using the build in dist/.
export default defineConfig({
  root: '../tests/web',
  test: {
    include: ['*.test.ts'],
    globalSetup: ['clusters_setup.ts'],
    environment: 'node',
    // One browser at a time, because the test machines have few cores.
    fileParallelism: false,
    // Long enough for a busy machine. A test of a page that hangs still fails.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
