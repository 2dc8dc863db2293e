import { defineConfig } from 'vitest/config';
import { hasPrometheus } from './test/prometheus/binaries.ts';

/** Ten times the longest test, in ms: for what hangs. */
const limitMs = 3_600_000;

/** `npm run test:prometheus`: the alerts, as promtool and a real Prometheus understand them. */
export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    include: hasPrometheus()
      ? ['test/prometheus/!(absent).test.ts']
      : ['test/prometheus/absent.test.ts'],
    // They wait for most of their time.
    maxWorkers: 7,
    testTimeout: limitMs,
    hookTimeout: limitMs,
  },
});
