import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { recomputeSums, rollUp } from '../../../src/rollups/roll.ts';
import { besideSums, keepSums } from '../../../src/sync/serve.ts';
import { freshDatabase } from '../../harness/database.ts';
import { sumFaults, sumUp } from '../../harness/ledger.ts';
import { eventually } from '../../harness/process.ts';

test('maintenance updates the sums when they are due', async () => {
  const { pool, query } = await freshDatabase();
  const insert = (hash: string) =>
    query(`insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
           values (10, '${hash}', '2026-01-01', '0xa', 1)`);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism')`);
  await insert('0x1');
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let nowMs = 0;
  let turns = 0;
  const now = () => {
    turns += 1;
    return nowMs;
  };
  const log = createLog('silent', () => undefined);
  const kept = keepSums({ db: drizzle(pool), log, now }, stop.signal);
  const sent = async () =>
    Number((await query('select operations from explorer.senders'))[0]?.operations ?? 0);
  await eventually('the first sums', async () => (await sent()) === 1);

  await insert('0x2');
  const before = turns;
  await eventually('a turn that is not due', async () => turns > before + 1);
  expect(await sent()).toBe(1);
  await eventually('the next sums', async () => {
    nowMs += 60_000; // Again and again: the first sums may still be at work, and rest as long.
    return (await sent()) === 2;
  });

  stop.abort();
  await kept;
});

test('each transaction sums up one key while one takes as long as a turn may', async () => {
  const { pool, query } = await freshDatabase();
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
    select 10, '0x' || day, '2026-01-01'::date + day, '0xa', 1 from generate_series(1, 4) as day`);
  let nowMs = 0;
  const now = () => (nowMs += 100);

  const keys = await rollUp({ db: drizzle(pool), now }, new AbortController().signal);

  const [sums] = await query('select count(*)::int as count from etl.rollups');
  expect(keys).toBeGreaterThan(4);
  // Two times for each key, and one for the turn of each sum that finds none left.
  expect(nowMs / 100).toBe(2 * keys + Number(sums?.count));
});

test('a command that is killed after a while has summed up what it had stored', async () => {
  const { pool, query } = await freshDatabase();
  const log = createLog('silent', () => undefined);
  let nowMs = 0;
  const killed = Promise.withResolvers<void>();
  const options = { db: drizzle(pool), log, now: () => nowMs };
  const work = besideSums(options, new AbortController().signal, () => killed.promise);
  onTestFinished(() => killed.resolve());
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
    values (10, '0x1', '2026-01-01', '0xa', 1)`);
  await eventually('sums during the work', async () => {
    nowMs += 1_000;
    const rows = await query('select from explorer.operations_daily');
    return rows.length === 1;
  });
  expect(nowMs).toBeGreaterThanOrEqual(10_000);
  killed.resolve();
  await work;
});

test('explorer.refreshed does not know what is stale before the first sums, and after a page', async () => {
  const { pool, query } = await freshDatabase();
  const stale = async () => {
    const rows = await query('select distinct stale from explorer.refreshed');
    return rows.map((row) => row.stale);
  };
  expect(await stale()).toEqual([null]);
  await sumUp(drizzle(pool));
  expect(await stale()).toEqual(['0']);
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings, origin, unit)
    values (10, 'user-operations', 'newest-first', '{}', 'https://x', 'blocks')`);
  await query(`
    with run as (
      insert into etl.runs (chain_id, operation, lane, scope, state) values (10, 'user-operations', 'live', '{}', 'open') returning id
    )
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, revision, updated_at)
    select 10, 'user-operations', 'live', id, 'newest-first', '{}', 'running', 1, clock_timestamp() from run`);
  expect(await stale()).toEqual([null]);
  await sumUp(drizzle(pool));
  expect(await stale()).toEqual(['0']);
});

test('an operation that moves by days leaves the day and the sender that counted it, before the next recomputation', async () => {
  const { pool, query } = await freshDatabase();
  const db = drizzle(pool);
  const whole = `0x${'b'.repeat(40)}`;
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, block_number, page_id)
    values (10, '0x1', '2026-01-01', '0xa', 1, 1), (10, '0x2', '2026-01-01', '${whole}', 1, 1);
    insert into explorer.blocks (chain_id, height, hash, timestamp, page_id)
    values (10, 1, '0x', '2026-01-01', 1)`);
  const counts = async () => ({
    days: await query(
      `select coalesce(day::text, 'none') as day, operations::int from explorer.operations_daily order by day`,
    ),
    senders: await query(
      'select address_hash as sender, operations::int from explorer.senders order by 1',
    ),
    blocks: await query('select day::text, blocks::int from explorer.chain_daily order by day'),
  });
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  const first = { day: '2026-01-01', operations: 2 };
  expect((await counts()).days).toEqual([first]);
  await query(`
    update explorer.user_operations
    set timestamp = '2026-03-01', address_hash = '${whole}', updated_at = clock_timestamp() where hash = '0x1'`);
  await query(`
    update explorer.blocks set timestamp = '2026-03-01', updated_at = clock_timestamp()`);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  expect(await counts()).toEqual({
    days: [
      { day: '2026-01-01', operations: 1 },
      { day: '2026-03-01', operations: 1 },
    ],
    senders: [{ sender: whole, operations: 2 }],
    blocks: [{ day: '2026-03-01', blocks: 1 }],
  });
  // Then its block has no time either: it is counted, and in no day.
  await query(`update explorer.blocks set timestamp = null, updated_at = clock_timestamp()`);
  await query(
    `update explorer.user_operations set timestamp = null, updated_at = clock_timestamp()`,
  );
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  expect((await counts()).days).toEqual([{ day: 'none', operations: 2 }]);
  await query(`
    update explorer.user_operations set timestamp = '2026-02-01', updated_at = clock_timestamp() where hash = '0x1'`);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  // The other one has the time of its sibling.
  expect((await counts()).days).toEqual([{ day: '2026-02-01', operations: 2 }]);
});

test.each([
  ['loses its time', `timestamp = null`],
  ['moves to another block of its day', `block_number = 2`],
  ['loses its sender', `address_hash = null`],
])(
  'an operation that %s leaves the sums of its sender, and of others that had the time of its block from it',
  async (_how, change) => {
    const { pool, query } = await freshDatabase();
    const db = drizzle(pool);
    await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
      insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, block_number, page_id)
      values (10, '0x1', '2026-01-01', '0xa', 1, 1), (10, '0x2', null, '0xb', 1, 1)`);
    await sumUp(db);
    expect(await sumFaults(pool)).toEqual({});

    await query(
      `update explorer.user_operations set ${change}, updated_at = clock_timestamp() where hash = '0x1'`,
    );
    await sumUp(db);

    expect(await sumFaults(pool)).toEqual({});
  },
);

test('the last operation without a time leaves those of no day, although its block had a time before', async () => {
  const { pool, query } = await freshDatabase();
  const db = drizzle(pool);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.user_operations (chain_id, hash, timestamp, block_number, page_id)
    values (10, '0x1', null, 1, 1)`);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});

  await query(`insert into explorer.user_operations (chain_id, hash, timestamp, block_number, page_id)
    values (10, '0x2', '2026-01-01', 1, 2)`);
  await query(`update explorer.user_operations set timestamp = '2026-01-01', updated_at = clock_timestamp()
    where hash = '0x1'`);
  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('rows that are deleted while the first sums are taken leave them', async () => {
  const { pool, query } = await freshDatabase();
  const db = drizzle(pool);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
    values (10, '0x1', '2026-01-01', '0xa', 1)`);
  await db.transaction(async (forget) => {
    await forget.execute('delete from explorer.user_operations');
    await recomputeSums(forget);
    await sumUp(db);
  });

  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('an address that becomes another kind takes the operations that it sent along, also those of former days', async () => {
  const { pool, query } = await freshDatabase();
  const db = drizzle(pool);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.addresses (chain_id, hash, is_contract, page_id)
    values (10, '0xa', false, 1), (10, '0xb', true, 1);
    insert into explorer.blocks (chain_id, height, hash, timestamp, page_id)
    values (10, 3, '0x', '2026-01-03', 1);
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, block_number, page_id)
    values (10, '0x1', '2026-01-01', '0xa', 1, 1), (10, '0x2', '2026-01-02', '0xa', 2, 1),
           (10, '0x3', '2026-01-02', '0xb', 2, 1), (10, '0x4', null, '0xa', 3, 1), (10, '0x5', null, '0xa', 4, 1)`);
  const kinds = () =>
    query(`select kind_now as kind, sum(operations)::int as operations, count(distinct day)::int as days
           from explorer.sender_kinds_daily group by 1 order by 1`);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  expect(await kinds()).toEqual([
    { kind: 'account', operations: 4, days: 3 },
    { kind: 'contract', operations: 1, days: 1 },
  ]);
  await query(
    `update explorer.addresses set proxy_type = 'eip7702', updated_at = clock_timestamp() where hash = '0xa'`,
  );
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
  expect(await kinds()).toEqual([
    { kind: 'contract', operations: 1, days: 1 },
    { kind: 'eip7702', operations: 4, days: 3 },
  ]);
});

test('an operation that is stored while its sender becomes another kind is summed up with that kind', async () => {
  const { query, pool } = await freshDatabase();
  const db = drizzle(pool);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.addresses (chain_id, hash, is_contract, page_id) values (10, '0xa', false, 1)`);
  await sumUp(db);
  const [page, other] = [await pool.connect(), await pool.connect()];
  await page.query('begin');
  await page.query(`
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id, updated_at)
    values (10, '0x1', '2026-01-01', '0xa', 1, etl.change_time())`);
  await other.query('begin');
  await other.query(`
    update explorer.addresses set proxy_type = 'eip7702', updated_at = etl.change_time() where hash = '0xa'`);
  await page.query('commit');
  await sumUp(db);
  await other.query('commit');
  for (const session of [page, other]) session.release();

  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('what rows were before they moved is forgotten, also where each summing up recomputes all', async () => {
  const { query, pool } = await freshDatabase();
  const db = drizzle(pool);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism');
    insert into explorer.addresses (chain_id, hash, is_contract, page_id) values (10, '0xa', false, 1);
    insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
    values (10, '0x1', '2026-01-01', '0xa', 1)`);
  await sumUp(db);
  await query(`
    update explorer.addresses set is_contract = true, updated_at = etl.change_time();
    update explorer.user_operations set timestamp = '2026-01-02', updated_at = etl.change_time()`);
  for (const _ of ['until then', 'since then']) {
    await query(`update etl.rollups set begun_at = now() - interval '25 hours'`);
    await sumUp(db);
  }
  expect(await query('select name from etl.moved_rows')).toEqual([]);
});
