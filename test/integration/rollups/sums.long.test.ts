import { expect, onTestFinished, test } from 'vitest';
import { recomputeSums } from '../../../src/rollups/roll.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';
import { sumFaults, sumUp } from '../../harness/ledger.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 400,
  batches: { first: 1, count: 6, blocks: 60 },
  factories: 0,
};

const moving: SimulatedChain = {
  ...plainChain,
  userOperations: 400,
  motion: {
    operationsPerMinute: 20,
    latePercent: 6,
    latestLateMs: 1_200_000,
    orphanedPercent: 4,
    reincludedPercent: 50,
  },
};

/** A copy of a chain that stands still, and not summed up yet. */
async function copied() {
  const copy = await openCopy(chain);
  await copy.sync();
  return copy;
}

test('the sums follow a list that changes, and only changed rows are summed', async () => {
  const { syncAt, query, pool, db } = await openCopy(moving, {
    run: { operations: ['user-operations'] },
  });
  await syncAt(0);
  await sumUp(db);
  for (let poll = 1; poll <= 6; poll += 1) {
    await syncAt(poll * 300_000);
    await sumUp(db);
    expect(await sumFaults(pool)).toEqual({});
  }
  const rows = await query('select from explorer.user_operations where removed_at is not null');
  expect(rows).not.toEqual([]);
});

test('an operation that moves past midnight leaves its former day', async () => {
  const { pool, db } = await copied();
  await sumUp(db);

  await pool.query(`
    update explorer.user_operations
    set timestamp = timestamp + interval '1 day', updated_at = clock_timestamp()
    where hash = (select min(hash) from explorer.user_operations)`);
  expect(Object.keys(await sumFaults(pool))).toContain('operations_daily');
  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('an operation without a time has that of another in its block, and of the block once it is stored', async () => {
  const { pool, query, db } = await copied();
  const rows = await query(
    `select block_number as block from explorer.user_operations group by 1 having count(*) > 1 limit 1`,
  );
  const block = rows[0]?.block;
  await query('delete from explorer.blocks where height = $1', [block]);
  await query(
    `update explorer.user_operations set timestamp = null, updated_at = clock_timestamp()
     where hash = (select min(hash) from explorer.user_operations where block_number = $1)`,
    [block],
  );
  const timeSources = async () => {
    const sources = await query(
      `select block_time_source as source, count(*)::int as operations from explorer.operations_enriched
       where block_number = $1 group by 1 order by 1`,
      [block],
    );
    return sources.map(({ source }) => source);
  };
  expect(await timeSources()).toEqual(['operation', 'sibling']);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});

  await query(
    `update explorer.user_operations
     set timestamp = timestamp - interval '1 second', updated_at = clock_timestamp()
     where block_number = $1 and timestamp is not null`,
    [block],
  );
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});

  await query(
    `insert into explorer.blocks (chain_id, height, hash, timestamp, page_id, updated_at)
     values (10, $1, '0x', (
       select max(timestamp) + interval '3 days' from explorer.user_operations where block_number = $1
     ), 1, clock_timestamp())`,
    [block],
  );

  expect(await timeSources()).toEqual(['block', 'operation']);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
});

test('an impossible time costs one day, not all days up to it', async () => {
  const { pool, db } = await copied();
  const keys = await sumUp(db);
  await pool.query(`
    update explorer.user_operations set updated_at = clock_timestamp(), timestamp = case hash
      when (select min(hash) from explorer.user_operations) then '0001-01-01Z'::timestamptz
      else '9999-12-31T23:59:59Z' end
    where hash in (
      select min(hash) from explorer.user_operations
      union select max(hash) from explorer.user_operations
    )`);

  await recomputeSums(db);
  expect(await sumUp(db)).toBeLessThan(keys + 10);
  expect(await sumFaults(pool)).toEqual({});
});

test('deleted rows leave the sums when they are recomputed', async () => {
  const { pool, db } = await copied();
  await sumUp(db);
  await pool.query(`delete from explorer.user_operations where block_number < (
    select percentile_disc(0.5) within group (order by block_number) from explorer.user_operations
  )`);
  await sumUp(db);
  expect(Object.keys(await sumFaults(pool))).toContain('senders');

  await recomputeSums(db);
  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('sums that are interrupted at any moment are completed the next time', async () => {
  const { pool, query, db } = await copied();
  let moment = 0;
  for (let requested = Infinity; requested > moment;) {
    moment += 1;
    requested = 0;
    const signal = {
      get aborted() {
        requested += 1;
        return requested > moment;
      },
    } as AbortSignal;
    await sumUp(db, signal);
  }
  expect(moment).toBeGreaterThan(8);
  expect(await sumFaults(pool)).toEqual({});
  const [rows] = await query(`
    select (select count(*)::int from explorer.batch_stats) as batches,
           exists (select from explorer.operations_daily) and exists (select from explorer.senders)
             and exists (select from explorer.chain_daily) as has_others`);
  expect(rows).toEqual({ batches: chain.batches.count, has_others: true });
});

test('a sum that fails delays no other', async () => {
  const { pool, db } = await copied();
  await pool.query('alter function etl.sum_block_days rename to sum_block_days_gone');

  await expect(sumUp(db)).rejects.toThrow(/sum_block_days/u);

  expect(Object.keys(await sumFaults(pool))).toEqual(['chain_daily']);
});

test('rows that are written during a sum are included the next time', async () => {
  const { pool, db } = await copied();
  await sumUp(db);
  const writer = await pool.connect();
  onTestFinished(() => writer.release(true));
  await writer.query('begin');
  await writer.query(`
    update explorer.user_operations set fee = fee + 1, status = false, updated_at = etl.change_time()
    where hash = (select min(hash) from explorer.user_operations)`);
  // Later than the change, and without it.
  await sumUp(db);
  await writer.query('commit');
  expect(Object.keys(await sumFaults(pool))).toContain('senders');

  await sumUp(db);

  expect(await sumFaults(pool)).toEqual({});
});

test('of two concurrent processes, one updates the sums, and neither waits', async () => {
  const { pool, db } = await copied();
  const other = await pool.connect();
  onTestFinished(() => other.release(true));
  await other.query('begin; select from etl.rollups for update');

  expect(await sumUp(db)).toBe(0);

  await other.query('rollback');
  const keys = await Promise.all([sumUp(db), sumUp(db)]);
  expect(Math.max(...keys)).toBeGreaterThan(0);
  await sumUp(db);
  expect(await sumFaults(pool)).toEqual({});
});
