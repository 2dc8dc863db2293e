import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** A walk under faults or a whole command takes seconds, and machines of CI are slow. */
const longTimeoutMs = 120_000;
/** Postgres answers in milliseconds, but a test may start several processes. */
const databaseTimeoutMs = 30_000;

function project(name: string, testTimeout?: number): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      ...(testTimeout === undefined ? {} : { testTimeout, hookTimeout: testTimeout }),
    },
  };
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // The default is one for a machine of two cores; files wait for Postgres and processes mostly.
    maxWorkers: 2,
    projects: [
      project('unit'),
      project('conventions', databaseTimeoutMs),
      project('integration', databaseTimeoutMs),
      project('fault', longTimeoutMs),
      project('e2e', longTimeoutMs),
    ],
  },
});
