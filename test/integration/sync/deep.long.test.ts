import { expect, test } from 'vitest';
import { oneEach } from '../../harness/kept.ts';
import { lyingList } from './lying-list.ts';
import { hourMs, watchOperations } from './watch.ts';

const motion = { operationsPerMinute: 30, latePercent: 2, latestLateMs: hourMs } as const;
const hours = (count: number) => Array.from({ length: count }, (_, index) => (index + 1) * hourMs);

test('a deep poll runs in the backfill lane once in its interval, and finds late items within its depth', async () => {
  const { runAt, query, stored, expectedAt } = await watchOperations(
    { motion },
    // 3,600 operations deep at the least: longer than what the live lane may read at once.
    { resweep: [{ depthMs: 4 * hourMs, everyMs: 3 * hourMs }] },
  );
  await runAt(0);

  for (const atMs of hours(7)) await runAt(atMs);

  const runs = await query(`
    select extract(hour from started_at)::int as hour, bool_or(not from_head) as from_stored,
           count(*) > 1 as in_parts
    from etl.walks where lane = 'backfill' and depth_ms is not null group by 1 order by 1`);
  expect(runs).toEqual([
    { hour: 3, from_stored: true, in_parts: true },
    { hour: 6, from_stored: true, in_parts: true },
  ]);
  expect(await query(`select distinct depth_ms from etl.walks where lane = 'live'`)).toEqual([
    { depth_ms: '30000' },
  ]);
  const seen = new Set((await stored()).map(({ hash }) => hash));
  const arrived = expectedAt(5 * hourMs).map(({ hash }) => hash);
  expect(arrived.filter((hash) => !seen.has(hash))).toEqual([]);
  // Late by the clock of the worker.
  const late = await query(`
    select extract(epoch from seen_at)::int % 3600 as past_the_hour, lateness < interval '6 hours' as is_true
    from explorer.late_arrivals where timestamp is not null`);
  expect(late.length).toBeGreaterThan(20);
  expect(late).toEqual(late.map(() => ({ past_the_hour: 0, is_true: true })));
});

test("over a day, deep polls cost depth / interval of the list's new pages", async () => {
  const operationsPerMinute = 12;
  const rules = [
    { depthMs: 2 * hourMs, everyMs: 6 * hourMs },
    { depthMs: hourMs, everyMs: 3 * hourMs },
  ];
  const costOf = async (resweep: typeof rules) => {
    const { runAt } = await watchOperations(
      { motion: { ...motion, latestLateMs: 2 * hourMs, operationsPerMinute } },
      { resweep },
    );
    await runAt(0);
    let requests = 0;
    for (const atMs of hours(24)) requests += await runAt(atMs);
    return requests;
  };
  const pagesOfDay = (24 * 60 * operationsPerMinute) / 50;

  const cost = (await costOf(rules)) - (await costOf([]));

  const part = cost / pagesOfDay / (1 / 3 + 1 / 3);
  expect(part).toBeGreaterThan(0.9);
  expect(part).toBeLessThan(1.1);
});

test('a deep poll that meets disorder is repeated soon, and once', async () => {
  const { list, sync, query } = await lyingList(oneEach(1, 1_400));
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 0, minute));
  await sync({ at: at(0) });
  list.lie = ({ items: [a = {}, b = {}, ...rest], ...page }) => ({
    ...page,
    items: [b, a, ...rest],
  });

  const resweep = [{ depthMs: 2_400_000, everyMs: 3_600_000 }];
  for (const minute of [60, 62, 66, 72, 119]) await sync({ resweep, at: at(minute) });

  const turns = await query(`
    select distinct extract(epoch from started_at - timestamptz '2026-01-02Z')::int / 60 as minute
    from etl.walks where lane = 'backfill' and depth_ms is not null order by 1`);
  expect(turns).toEqual([{ minute: 60 }, { minute: 66 }]);
});

test('a deep poll begins at the head, and finds what a cut live poll did not', async () => {
  const { list, sync, query } = await lyingList(oneEach(1, 1_400));
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 0, minute));
  await sync({ at: at(0) });
  await sync({ at: at(5) });
  list.operations.push(...oneEach(1_401, 1_700));
  list.lie = ({ items: [a = {}, b = {}, ...rest], ...page }, { cursor }) =>
    cursor === null ? { ...page, items: [b, a, ...rest] } : null;
  await sync({ at: at(10) });
  list.operations.push({ block: 1_600, id: 5000 });

  await sync({ at: at(60), resweep: [{ depthMs: 2_400_000, everyMs: 3_600_000 }] });

  expect(await query('select block_number::int from explorer.late_arrivals')).toEqual([
    { block_number: 1_600 },
  ]);
});
