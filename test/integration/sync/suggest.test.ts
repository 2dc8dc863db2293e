import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';

/** A thousand late arrivals, of which the nth is n seconds late, and one without a time. */
async function thousandArrivals() {
  const { query } = await freshDatabase();
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (10, 'user-operations', 'newest-first', '{}'), (1, 'user-operations', 'newest-first', '{}'),
           (10, 'factories', 'ranked', '{}');
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select 10, 'user-operations', number::text, number, '2026-01-01Z'::timestamptz, '2026-01-01Z'::timestamptz + number * interval '1 second', 1
    from generate_series(1, 1000) as number
    union all
    select 10, 'user-operations', 'untimed', 1, null, '2026-01-01Z'::timestamptz, 1`);
  return async (columns: readonly string[], from: string) => {
    const seconds = columns.map((column) => `extract(epoch from ${column})::float8`);
    const rows = await query(`select json_build_array(${seconds.join(', ')}) as row from ${from}`);
    return rows.map(({ row }) => row);
  };
}

test('the suggested overlap follows from how late operations were', async () => {
  const secondsOf = await thousandArrivals();
  const shares = ['median', 'p90', 'p99', 'p999', 'max'].map((share) => `${share}_lateness`);

  const seconds = await secondsOf(
    [...shares, 'suggested_overlap'],
    'explorer.suggested_overlap order by feed desc',
  );

  expect(seconds).toEqual([
    [500, 900, 990, 999, 1000, 901],
    [null, null, null, null, null, null],
  ]);
});

test('each suggested rule is as deep as its interval and the lateness of 999 in 1000', async () => {
  const secondsOf = await thousandArrivals();
  const from = (where: string) =>
    `explorer.suggested_resweeps where chain_id = 10 and ${where} order by every`;

  expect(await secondsOf(['every', 'depth', 'every * cost'], from('true'))).toEqual([
    [3600, 4599, expect.closeTo(4599, 3)],
    [21_600, 22_599, expect.closeTo(22_599, 3)],
    [86_400, 87_399, expect.closeTo(87_399, 3)],
    [604_800, 605_799, expect.closeTo(605_799, 3)],
  ]);
  expect(await secondsOf(['every'], from('is_cheapest'))).toEqual([[604_800]]);
});
