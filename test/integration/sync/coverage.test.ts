import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { recount } from '../../harness/coverage.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 11;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 1000,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
};

/** An end that nothing supports is requested once more. */
const endRequested = 1;

async function world() {
  const simulator = await startSimulator({ seed, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const sync = (bounds: { since?: string; maxPages?: number } = {}) =>
    runSync(database, {
      url: simulator.url,
      chains: [chain],
      operations: ['user-operations'],
      ...bounds,
    });
  /** Runs a sync and says what it cost. */
  const requestsOf = async (bounds?: { since?: string; maxPages?: number }) => {
    const before = simulator.requests;
    await sync(bounds);
    return simulator.requests - before;
  };
  const equal = () => differences(database.pool, seed, chain, { operations: ['user-operations'] });
  return { database, requestsOf, equal };
}

const gaps = async (pool: Pool) =>
  (await pool.query('select from_block, to_block from explorer.gaps order by 1')).rows;

test('a whole list leaves one covered range and no gap', async () => {
  const { database, requestsOf } = await world();

  expect(await requestsOf()).toBe(20 + endRequested);

  expect(await gaps(database.pool)).toEqual([]);
  const { rows } = await database.pool.query('select from_block from explorer.coverage');
  expect(rows).toEqual([{ from_block: '0' }]);
});

test('a list that is covered is kept current with one page when nothing is new', async () => {
  const { requestsOf, equal } = await world();
  await requestsOf();

  expect(await requestsOf()).toBe(1);

  expect(await equal()).toEqual({});
});

test('history that was bounded is read on from where it ended, and only there', async () => {
  const { database, requestsOf, equal } = await world();
  expect(await requestsOf({ maxPages: 8 })).toBe(8);
  expect(await gaps(database.pool)).toHaveLength(1);

  const requests = await requestsOf();

  expect(requests).toBeLessThanOrEqual(12 + 2 + 1);
  expect(await gaps(database.pool)).toEqual([]);
  expect(await equal()).toEqual({});
});

test('a gap is named exactly, and closed with its own pages and two more at most', async () => {
  const { database, requestsOf, equal } = await world();
  await requestsOf({ maxPages: 7 });
  await requestsOf({ maxPages: 6 });
  await requestsOf();
  const { pool } = database;
  const { rows } = await pool.query<{ id: string; top: string; bottom: string; pages: string }>(
    `select id, top, bottom, pages from etl.walks
     where lane = 'backfill' order by id offset 1 limit 1`,
  );
  const [lost] = rows;
  await pool.query('delete from etl.pages where walk_id = $1', [lost?.id]);
  await pool.query('delete from etl.walks where id = $1', [lost?.id]);
  await recount(pool);
  const { rowCount } = await pool.query(
    'delete from explorer.user_operations where block_number > $1 and block_number < $2',
    [lost?.bottom, lost?.top],
  );
  expect(rowCount).toBeGreaterThan(100);
  const [gap, ...others] = await gaps(pool);
  expect(others).toEqual([]);
  expect(Number(gap.from_block)).toBeGreaterThanOrEqual(Number(lost?.bottom));
  expect(Number(gap.to_block)).toBeLessThanOrEqual(Number(lost?.top));

  const requests = await requestsOf();

  expect(requests).toBeLessThanOrEqual(Number(lost?.pages) + 2 + 1);
  expect(await gaps(pool)).toEqual([]);
  expect(await equal()).toEqual({});
});
