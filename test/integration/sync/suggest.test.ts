import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';

/** A thousand late arrivals, of which the nth is n seconds late, and one that tells no time. */
async function thousandArrivals() {
  const { pool } = await freshDatabase();
  await pool.query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (10, 'user-operations', 'newest-first', '{}'), (1, 'user-operations', 'newest-first', '{}'),
           (10, 'factories', 'ranked', '{}')`);
  await pool.query(`
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select 10, 'user-operations', number::text, number, '2026-01-01Z'::timestamptz, '2026-01-01Z'::timestamptz + number * interval '1 second', 1
    from generate_series(1, 1000) as number
    union all
    select 10, 'user-operations', 'untimed', 1, null, '2026-01-01Z'::timestamptz, 1`);
  return pool;
}

const seconds = (column: string) => `extract(epoch from ${column})::float8 as ${column}`;

test('the suggested overlap rests on how late operations were', async () => {
  const pool = await thousandArrivals();

  const { rows } = await pool.query(
    `select feed, late_arrivals, ${seconds('median_lateness')}, ${seconds('p90_lateness')},
            ${seconds('p99_lateness')}, ${seconds('p999_lateness')}, ${seconds('max_lateness')},
            ${seconds('suggested_overlap')}
     from explorer.suggested_overlap order by feed desc`,
  );

  expect(rows).toEqual([
    {
      feed: '10/user-operations',
      late_arrivals: '1000',
      median_lateness: 500,
      p90_lateness: 900,
      p99_lateness: 990,
      p999_lateness: 999,
      max_lateness: 1000,
      suggested_overlap: 901,
    },
    {
      feed: '1/user-operations',
      late_arrivals: '0',
      median_lateness: null,
      p90_lateness: null,
      p99_lateness: null,
      p999_lateness: null,
      max_lateness: null,
      suggested_overlap: null,
    },
  ]);
});

test('each suggested rule is as deep as its interval and the lateness of 999 in 1000', async () => {
  const pool = await thousandArrivals();

  const { rows } = await pool.query<{ every: number; depth: number; cost: number }>(
    `select ${seconds('every')}, ${seconds('depth')}, cost, is_cheapest
     from explorer.suggested_resweeps where chain_id = 10 order by 1`,
  );

  expect(rows).toEqual(
    [3600, 21_600, 86_400, 604_800].map((every) => ({
      every,
      depth: every + 999,
      cost: expect.closeTo((every + 999) / every, 9),
      is_cheapest: every === 604_800,
    })),
  );
});
