import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('a key that is refused, and is taken again', async () => {
  const { setFault, expectFiring, expectHealthy } = await openAlertWorld();
  await expectHealthy();
  setFault('401');
  await expectFiring('ExplorerEtlKeyRefused');
  setFault(null);
  await expectHealthy();
});
