import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('an alert fires while no worker runs', async () => {
  const { start, expectFiring, expectHealthy } = await openAlertWorld({ serving: 'open' });
  const worker = start(['start']);
  await expectHealthy();
  worker.kill('SIGKILL');
  await expectFiring('ExplorerEtlNoWorker');
  start(['start']);
  await expectHealthy();
});
