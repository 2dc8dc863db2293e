import { expect, test } from 'vitest';
import { recountCoverage, verifyFeeds } from '../../../src/status/verify.ts';
import { hashOf, honestly, oneEach, type PageLie } from '../../harness/kept.ts';
import { retryQuarantined } from '../../../src/quarantine/quarantine.ts';
import { copiedList, lyingList } from '../sync/lying-list.ts';
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

test('a walk that showed what another one skipped stays, whichever of both began first', async () => {
  const { list, query, sync, removed, database } = await copiedList();
  const { age, prune } = ledgerOf(database);
  const skips: PageLie = ({ items, ...page }) => ({
    ...page,
    items: items.filter((item) => !/15[2-7]/u.test(String(item['block_number']))),
  });
  list.lie = skips;
  await sync({ overlapMs: 100_000 });
  list.lie = honestly;
  await sync({ overlapMs: 100_000 });
  await query(`
    set session_replication_role = replica;
    with skipping as (
      update etl.pages set walk_id = 1000 where walk_id = (select walk_id from etl.pages where jumped is not null)
      returning (select walk_id from etl.pages where jumped is not null) as old
    )
    update etl.walks set id = 1000 where id = (select max(old) from skipping);
    set session_replication_role = origin;
    select setval('etl.walks_id_seq', 1001)
  `);
  list.operations = [...list.operations, ...oneEach(201, 260)];
  for (let poll = 0; poll < 3; poll += 1) await sync({ overlapMs: 0 });
  await age(100);

  await prune();
  await age(-100);
  list.lie = skips;
  await sync({ overlapMs: 300_000 });

  expect(await removed()).toEqual([]);
});
