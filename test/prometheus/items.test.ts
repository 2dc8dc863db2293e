import { test } from 'vitest';
import { alterPage } from '../../simulator/index.ts';
import { openAlertWorld } from './world.ts';

/** The first item of each page has a hash that is none. */
const nameless = alterPage(({ items, ...rest }) => ({
  items: items.map((item, place) =>
    place === 0 ? { ...item, hash: `?${String(item.hash)}` } : item,
  ),
  ...rest,
}));

/** New operations with each poll. */
const motion = { operationsPerMinute: 60 };

test('an alert fires if each poll adds an item to quarantine', async () => {
  const { setFault, expectFiring, expectQuiet, expectHealthy } = await openAlertWorld({
    motion,
  });
  await expectHealthy();
  setFault(nameless);
  await expectFiring('ExplorerEtlQuarantineGrows');
  setFault(null);
  await expectQuiet();
});

test('an alert fires if a list is out of order', async () => {
  const { setFault, expectFiring, expectHealthy } = await openAlertWorld({ motion });
  await expectHealthy();
  setFault('wrong-order');
  await expectFiring('ExplorerEtlFeedFails');
  setFault(null);
  await expectHealthy();
});
