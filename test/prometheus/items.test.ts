import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

/** New operations with each poll. */
const motion = { operationsPerMinute: 60 };

test('items that cannot become rows, one more with each poll', async () => {
  const { setFault, expectFiring, expectQuiet, expectHealthy } = await openAlertWorld({
    motion,
  });
  await expectHealthy();
  setFault('number-hex');
  await expectFiring('ExplorerEtlQuarantineGrows');
  setFault(null);
  await expectQuiet();
});

test('a list that is served out of order', async () => {
  const { setDisorder, expectFiring, expectHealthy } = await openAlertWorld({ motion });
  await expectHealthy();
  setDisorder(true);
  await expectFiring('ExplorerEtlDisorderLasts');
  setDisorder(false);
  await expectHealthy();
});
