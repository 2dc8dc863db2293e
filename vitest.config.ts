import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * How long a test may take, in ms: ten times what the slowest of its kind takes on a quiet machine,
 * and more. Who meets a limit hangs; no test has one of its own for being slow.
 */
const limitsMs = {
  unit: 60_000,
  conventions: 300_000,
  browser: 300_000,
  integration: 300_000,
  fault: 1_200_000,
  e2e: 1_200_000,
} as const;

/** Of files that put a module of their own in a module's place, which all files of a worker would see. */
const alone = '**/*.alone.test.ts';

const projects = Object.entries(limitsMs).map(
  ([name, limitMs]): TestProjectInlineConfiguration => ({
    extends: true,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      // `npm run test:long` runs them, with vitest.long.config.ts.
      exclude: [...configDefaults.exclude, '**/*.long.test.ts', alone],
      ...(name === 'browser' && { globalSetup: ['test/harness/browser-setup.ts'] }),
      // To load the program anew for each file takes as long as a fifth of the tests.
      isolate: false,
      testTimeout: limitMs,
      hookTimeout: limitMs,
    },
  }),
);

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    // The default is one for a machine of two cores; with two, a core waits for a third of the time.
    maxWorkers: 3,
    projects: [
      ...projects,
      {
        extends: true,
        test: { name: 'alone', include: [alone], testTimeout: limitsMs.integration },
      },
    ],
  },
});
