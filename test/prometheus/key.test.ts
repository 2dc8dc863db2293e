import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('an alert fires while the key is refused', async () => {
  const { setFault, expectFiring, expectHealthy } = await openAlertWorld();
  await expectHealthy();
  setFault('401');
  await expectFiring('ExplorerEtlKeyRefused');
  setFault(null);
  await expectHealthy();
});
