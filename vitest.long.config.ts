import { defineConfig } from 'vitest/config';

/** Ten times the longest test, a week with its kills, and as much again, in ms: for what hangs. */
const limitMs = 3_600_000;

/** What takes minutes, and of which `npm test` has a short kin each: `npm run test:long`. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.long.test.ts'],
    // Many wait: for a lease, a limit of time, a process that is killed.
    maxWorkers: 3,
    testTimeout: limitMs,
    hookTimeout: limitMs,
  },
});
