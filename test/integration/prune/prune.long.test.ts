import { expect, test } from 'vitest';
import { recountCoverage } from '../../../src/status/verify.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { hashOf } from '../../harness/kept.ts';
import { listWorld } from './world.ts';
import { oneEach } from '../../harness/kept.ts';

test('old polls that brought nothing are pruned, and every report stays as it was', async () => {
  const { list, database, sync, prune, age, reported, walks } = await listWorld(200);
  await sync(6);
  list.operations.push(...oneEach(201, 203));
  await sync(6);
  const none = { walks: 0, pages: 0, runs: 0 };
  expect(await prune()).toEqual(none);
  await age(20);
  expect(await prune(30)).toEqual(none);
  await age(80);
  const before = await reported();
  const { walks: all } = await walks();

  const pruned = await prune();

  // The first walk, the one that brought three, and the newest stay.
  expect(pruned).toEqual({ walks: all - 3, pages: expect.any(Number), runs: all - 3 });
  expect(await walks()).toEqual({ walks: 3 });
  expect(await reported()).toEqual(before);
  expect(before.lost).toEqual([]);
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
});

test('a sync after a prune requests the same number of pages, and leaves the same rows', async () => {
  const [pruned, kept] = [await listWorld(200), await listWorld(200)];
  const rows = [];
  for (const { list, sync, prune, age, query } of [pruned, kept]) {
    await sync(5);
    await age(100);
    if (list === pruned.list) await prune();
    list.operations.push(...oneEach(201, 260), { block: 150, id: 9000 });
    const requests = await sync();
    rows.push([
      requests,
      await query(
        'select hash, block_number, fee, removed_at from explorer.user_operations order by hash',
      ),
      await query('select key, height from etl.late_arrivals order by key'),
      await query('select covered::text from etl.feed_coverage'),
    ]);
  }

  expect(rows[0]).toEqual(rows[1]);
  expect((await pruned.walks()).walks).toBeLessThan((await kept.walks()).walks);
});

test('polls that brought a late item or another name, or showed that an item left, stay', async () => {
  const { list, sync, prune, age, reported, query } = await listWorld(200);
  await sync(3);
  const all = list.operations;
  list.operations = [
    ...all.filter(({ id }) => id !== 192),
    { block: 195, id: 7000, sender: 'first' },
  ];
  await sync(3);
  list.operations = list.operations.map((item) =>
    item.id === 7000 ? { ...item, sender: 'second' } : item,
  );
  await sync(3);
  await age(100);
  const before = await reported();

  expect((await prune()).walks).toBeGreaterThan(0);

  expect(await reported()).toEqual(before);
  expect(await query('select name from explorer.addresses where name is not null')).toEqual([
    { name: 'second' },
  ]);
  expect(await query('select key from etl.late_arrivals')).toEqual([{ key: hashOf(7000) }]);
  const removed = 'select hash from explorer.user_operations where removed_at is not null';
  await sync(2);
  expect(await query(removed)).toEqual([{ hash: hashOf(192) }]);
  list.operations = [...all, ...list.operations.slice(-1)];
  await sync();
  expect(await query(removed)).toEqual([]);
});

test('what pruned walks alone verified stays verified', async () => {
  const { sync, prune, age, reported, walks, query, database } = await listWorld(50);
  await sync(6);
  await age(100);
  // As if what read it first had met another order, so that only polls verify it.
  await query(`update etl.walks set verified = '{}' where id = (select min(id) from etl.walks)`);
  await recountCoverage(database.db);
  const before = await reported();

  await prune();

  expect(await walks()).toEqual({ walks: 2 });
  expect(await reported()).toEqual(before);
});

test('a poll with an item in quarantine stays', async () => {
  const { sync, prune, age, query } = await listWorld(50);
  await sync(5);
  await age(100);
  await query(`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
    select 10, 'user-operations', '{}', '{}', id::text, 'bad', id, 0 from etl.pages
  `);

  expect(await prune()).toEqual({ walks: 0, pages: 0, runs: 0 });
});

test('an item that was dropped from quarantine is not reported again after a prune', async () => {
  const { sync, query, age, prune, reported } = await listWorld(60);
  await sync(5);
  await age(100);
  await query(`
    insert into etl.quarantine (
      chain_id, operation, scope, raw, raw_hash, reason, page_id, position, from_block, to_block, dropped_at
    )
    select 10, 'user-operations', '{}', '{}', 'hash', 'bad', min(id), 0, 55, 56, now() from etl.pages
  `);
  const before = await reported();

  await prune();

  expect(await reported()).toEqual(before);
});
