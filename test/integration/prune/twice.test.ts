import { expect, test } from 'vitest';
import { recountCoverage, verifyFeeds } from '../../../src/status/verify.ts';
import { hashOf, oneEach } from '../../harness/kept.ts';
import { retryQuarantined } from '../../../src/quarantine/quarantine.ts';
import { lyingList } from '../sync/lying-list.ts';
import { ledgerOf, listWorld } from './world.ts';

test('what the walks of an earlier prune verified stays verified after the next one', async () => {
  const { db, sync, prune, age, walks, query } = await listWorld(50);
  const open = async () => (await verifyFeeds(db)).flatMap((feed) => feed.open);
  await sync(6);
  await age(100);
  await prune();
  await sync(4);
  await age(100);
  // As if only the pruned walks had met the list's order.
  await query(`update etl.walks set verified = '{}'`);
  await recountCoverage(db);
  const before = await open();

  await prune();

  expect(await walks()).toEqual({ walks: 2 });
  expect(await open()).toEqual(before);
});

test('a walk that read the place of a quarantined item without it stays until the item is retried', async () => {
  const { list, query, sync, removed, database } = await lyingList(oneEach(1, 50));
  const { age, prune } = ledgerOf(database);
  const gone = hashOf(35);
  list.lie = ({ items, ...page }) => ({
    ...page,
    items: items.map((item) => (item['hash'] === gone ? { ...item, hash: `?${gone}` } : item)),
  });
  await sync();
  list.operations = list.operations.filter(({ id }) => id !== 35);
  await sync({ overlapMs: 60_000 });
  list.operations = [...list.operations, ...oneEach(51, 100)];
  for (let poll = 0; poll < 3; poll += 1) await sync({ overlapMs: 0 });
  await query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`);
  await age(100);

  await prune();
  await retryQuarantined(database.db, { chains: [], operations: [], ids: [], reason: null });

  expect(await removed()).toEqual([gone]);
});
