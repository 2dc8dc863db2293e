import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('no worker runs, and one runs again', async () => {
  const { start, expectFiring, expectHealthy } = await openAlertWorld({ serving: 'open' });
  const worker = start(['start']);
  await expectHealthy();
  worker.kill('SIGKILL');
  await expectFiring('ExplorerEtlNoWorker');
  start(['start']);
  await expectHealthy();
});
