import { defineConfig } from 'vitest/config';

// Browser tests of the pages. They use the build in dist/.
export default defineConfig({
  root: '../tests/web',
  test: {
    include: ['*.test.ts'],
    globalSetup: ['clusters_setup.ts'],
    environment: 'node',
    // Runs one browser at a time, because the test machines have few cores.
    fileParallelism: false,
    // Long enough for a busy machine. A page that hangs still fails the test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
