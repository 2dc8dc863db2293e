import { defineConfig } from 'vitest/config';
import { citusBinaries } from './test/citus/binaries.ts';

/** Ten times the longest test, in ms: for what hangs. */
const limitMs = 1_200_000;

/** Tests of one server that must hold on a cluster as they are: what writes, proves and mends rows. */
const alike = [
  'test/integration/sync/late-and-removed.test.ts',
  'test/integration/sync/quarantine.test.ts',
  'test/integration/rows/damage.test.ts',
  'test/integration/archive/replay.test.ts',
  'test/e2e/rows.test.ts',
];

/** `npm run test:citus`: on a cluster of three servers, of which a test kills one; so one file at a time. */
export default defineConfig({
  test: {
    globalSetup: ['test/citus/global-setup.ts'],
    include:
      citusBinaries() === null
        ? ['test/citus/absent.test.ts']
        : ['test/citus/!(absent).test.ts', ...alike],
    fileParallelism: false,
    testTimeout: limitMs,
    hookTimeout: limitMs,
    teardownTimeout: limitMs,
  },
});
