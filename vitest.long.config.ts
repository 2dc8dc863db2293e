import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ten times the longest test, a week with its kills, and as much again, in ms: for what hangs. */
const limitMs = 3_600_000;

/** What takes longest, and begins first: else one of them ends alone, long after the others. */
const longest = /\/fault\/(?:killed-week|kill|week)\.long\./u;
const isLongest = ({ moduleId }: TestSpecification) => longest.test(moduleId);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** What takes minutes, and of which `npm test` has a short kin each: `npm run test:long`. */
export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    include: ['test/**/*.long.test.ts'],
    // Many wait: for a lease, a limit of time, a process that is killed.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: limitMs,
    hookTimeout: limitMs,
  },
});
