import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { ribbonsOf, type Range } from '../../../src/report/ribbon/ribbon.ts';
import { witnessesOf } from '../../../src/report/ribbon/witnesses.ts';
import { freshDatabase } from '../../harness/database.ts';
import { fillScene, list } from '../../harness/ribbon-scenes.ts';

/** A list whose each tenth block is a hole, so many of them. */
async function fillWithHoles(pool: Pool, holes: number): Promise<Range> {
  await fillScene(pool, { proved: [], held: [], walked: [], lowestItem: 1, reachedSince: null });
  await pool.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, proved, state,
       reason, from_head)
     select 10, 'user-operations', 'backfill', 1, 'newest-first', '{"max_pages": 9}', $1::int * 10, 1,
            range_agg(int8range(at * 10 + 1, at * 10 + 9)), 'finished', 'floor', true
     from generate_series(0, $1::int - 1) as at`,
    [holes],
  );
  return { from: 0, to: holes * 10 - 1 };
}

test('a list with 100,000 holes is told in few segments, and no hole is hidden', async () => {
  const { pool } = await freshDatabase();
  const window = await fillWithHoles(pool, 100_000);
  const db = drizzle(pool);
  const windows = new Map([[list, window]]);
  const [ribbon] = await ribbonsOf(db, { resolution: 240, windows, shares: new Map() });
  const drawn = ribbon?.segments.map(({ state, from, to, ranges }) => [state, from, to, ranges]);
  expect(drawn).toEqual([['gap', 0, 999_999, 100_000]]);
  expect(ribbon?.gaps.length).toBe(12);
  const [witnesses] = await witnessesOf(db, [{ feed: list, from: 0, to: 999_999 }]);
  expect(witnesses).toMatchObject({ walks: 1, lanes: ['backfill'], isMore: false });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

test('coverage is not read again for each hole, however badly the planner guesses', async () => {
  const { pool, url } = await freshDatabase();
  // What it guessed badly by: a look at another state of these tables, as autovacuum takes it at any moment.
  await fillWithHoles(pool, 1);
  await pool.query('analyze etl.feeds');
  const window = await fillWithHoles(pool, 1000);
  const settings = { enable_hashjoin: 'off', enable_mergejoin: 'off' };
  const guessing = createPool({ url, max: 1, applicationName: 'test', settings });
  onTestFinished(() => guessing.end());
  const asked: { query: string; params: unknown[] }[] = [];
  const logger = { logQuery: (query: string, params: unknown[]) => asked.push({ query, params }) };
  const windows = new Map([[list, window]]);
  await ribbonsOf(drizzle(guessing, { logger }), { resolution: 240, windows, shares: new Map() });
  expect(asked.length).toBe(1);
  const [{ query, params }] = asked as [(typeof asked)[number]];
  const { rows } = await guessing.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) ${query}`,
    params,
  );
  const read = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
  const scans = read.filter((node) => node['Node Type'] === 'CTE Scan');
  expect(scans.length).toBeGreaterThan(0);
  expect(Math.max(...scans.map((node) => node['Actual Loops']))).toBeLessThan(20);
});
