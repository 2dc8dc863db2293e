import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('alerts fire for an unreachable explorer, and for one that throttles', async () => {
  const { setFault, expectFiring, expectHealthy } = await openAlertWorld();
  await expectHealthy();
  setFault('503');
  await expectFiring('ExplorerEtlFeedFails');
  await expectFiring('ExplorerEtlFeedLate');
  setFault(null);
  await expectHealthy();
  setFault('429-seconds');
  await expectFiring('ExplorerEtlWaits');
  setFault(null);
  await expectHealthy();
});

test('an alert fires if the explorer was unreachable from the first request on', async () => {
  const { setFault, expectFiring, expectHealthy } = await openAlertWorld({ fault: '503' });
  await expectFiring('ExplorerEtlFeedFails');
  setFault(null);
  await expectHealthy();
});
