import { expect, test } from 'vitest';
import { hasPrometheus } from './binaries.ts';

test('the alerts in a real Prometheus', ({ skip }) => {
  skip(!hasPrometheus(), 'prometheus and promtool are not on the PATH');
  expect.unreachable();
});
