import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { citusBinaries } from './test/citus/binaries.ts';
import { hasPrometheus } from './test/prometheus/binaries.ts';

/**
 * How long a test may take, in ms: ten times what the slowest of its kind takes on a quiet machine,
 * and more. A test that meets its limit hangs; no test has one of its own for being slow.
 */
const limitsMs = {
  short: 1_200_000,
  browser: 300_000,
  alone: 300_000,
  long: 3_600_000,
  citus: 1_200_000,
  prometheus: 3_600_000,
  pictures: 300_000,
} as const;

type Project = keyof typeof limitsMs;
type Options = NonNullable<TestProjectInlineConfiguration['test']>;

/** Files that replace a module, which every file of the same worker would see. */
const alone = '**/*.alone.test.ts';
/** Tests of minutes; `npm test` has a short version of most. */
const long = '**/*.long.test.ts';

/** Tests of one server that must pass on a cluster too: they write, verify, repair and query rows. */
const alsoOnCitus = [
  'test/integration/sync/late-and-removed.test.ts',
  'test/integration/sync/quarantine.test.ts',
  'test/integration/archive/replay.test.ts',
  'test/integration/query/questions.test.ts',
  'test/integration/analysts/views.test.ts',
];

const browserSetup = ['test/browser/setup.ts'];

function project(name: Project, options: Options): TestProjectInlineConfiguration {
  const limitMs = limitsMs[name];
  return {
    extends: true,
    test: {
      name,
      testTimeout: limitMs,
      hookTimeout: limitMs,
      provide: { isLong: false },
      ...options,
    },
  };
}

/** Files of many alike cases, or of a long history: `npm test` has fewer, the long suite all of them. */
const withMoreCases = [
  'test/fault/roads.test.ts',
  'test/unit/foreign-text.test.ts',
  'test/integration/explorer/budget.test.ts',
  'test/integration/feeds/reset.test.ts',
  'test/integration/load/groups.test.ts',
  'test/integration/ranking/fallen.test.ts',
  'test/integration/ranking/motion.test.ts',
  'test/integration/report/quarantined-coverage.test.ts',
  'test/integration/sync/batch-lies.test.ts',
  'test/integration/sync/batches.test.ts',
  'test/integration/sync/fallen-evidence.test.ts',
  'test/integration/sync/foreign-pages.test.ts',
  'test/integration/sync/repair.test.ts',
  'test/integration/sync/repeat.test.ts',
  'test/integration/sync/target-of-file.test.ts',
  'test/integration/sync/truth.test.ts',
  'test/integration/sync/wrong-times.test.ts',
];

/**
 * Each worker of a project loads the program once for all of its files: a second of CPU, or two, which for each file
 * would be a fifth of the time of `npm test`. So what needs no other setup is one project.
 */
const loadedOnce: Options = { isolate: false };

function folders(
  name: Project,
  names: readonly string[],
  options: Options = {},
): TestProjectInlineConfiguration {
  return project(name, {
    include: names.map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: [...configDefaults.exclude, long, alone],
    ...loadedOnce,
    ...options,
  });
}

/** Each takes minutes, or in `npm test` waits for many seconds. */
const longest = [
  'jobs/host.test.ts',
  'fault/roads.test.ts',
  'changes/follow.long.test.ts',
  'fault/week.long.test.ts',
  'fault/hostile.long.test.ts',
  'fault/kill.long.test.ts',
  'db/plans.test.ts',
  '.alone.test.ts',
];
const isLongest = ({ moduleId }: TestSpecification) =>
  longest.some((end) => moduleId.endsWith(end));

/** What takes longest begins first: else one of them ends alone, long after the others. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** `npm test` runs the first project, `npm run test:long` the next three; the last three run only by their own names. */
export default defineConfig({
  test: {
    // Rows are held against their shapes.
    env: { EXPLORER_ETL_CHECK_ROWS: 'true' },
    globalSetup: ['test/harness/global-setup.ts'],
    setupFiles: ['test/harness/plan-once.ts'],
    // The default is one for a machine of two cores; many tests wait for a time of the program.
    maxWorkers: 6,
    teardownTimeout: limitsMs.citus,
    sequence: { sequencer: LongestFirst },
    projects: [
      folders('short', ['unit', 'conventions', 'integration', 'fault', 'e2e']),
      folders('browser', ['browser'], { globalSetup: browserSetup }),
      project('alone', { include: [alone] }),
      project('long', {
        include: [long, ...withMoreCases],
        provide: { isLong: true },
        ...loadedOnce,
      }),
      // One cluster of three servers, of which a test kills one.
      project('citus', {
        globalSetup: ['test/citus/global-setup.ts'],
        include:
          citusBinaries() === null
            ? ['test/citus/absent.test.ts']
            : ['test/citus/!(absent).test.ts', ...alsoOnCitus],
        fileParallelism: false,
        sequence: { groupOrder: 1 },
      }),
      // They wait for most of their time.
      project('prometheus', {
        include: hasPrometheus()
          ? ['test/prometheus/!(absent).test.ts']
          : ['test/prometheus/absent.test.ts'],
        maxWorkers: 7,
        sequence: { groupOrder: 2 },
      }),
      folders('pictures', ['pictures'], { globalSetup: browserSetup, isolate: true }),
    ],
  },
});
