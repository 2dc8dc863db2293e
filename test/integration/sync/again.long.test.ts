import { expect, test } from 'vitest';
import { startInstantMs } from '../../../simulator/index.ts';
import { hourMs, minuteMs, readAgain, watchOperations } from './watch.ts';

test('known history is read again by parallel walks, for no more requests than its pages', async () => {
  const { runAt, query } = await watchOperations({ userOperations: 5000 });
  // An end that nothing supports is requested once more.
  expect(await runAt(0)).toBe(100 + 1);

  expect(await runAt(hourMs, readAgain)).toBe(100);

  const walks = await query(
    `select from_head, reason, state from etl.walks where scope ? 'again' order by top desc`,
  );
  expect(walks).toEqual([
    { from_head: true, state: 'finished', reason: 'until' },
    { from_head: false, state: 'finished', reason: 'until' },
    { from_head: false, state: 'finished', reason: 'until' },
    { from_head: false, state: 'finished', reason: null },
  ]);
});

test('history with a since is read again down to that time, and no further', async () => {
  const { runAt, query } = await watchOperations({ userOperations: 5000 });
  const since = new Date(startInstantMs + 30 * minuteMs).toISOString();
  await query(`update etl.feeds set settings = settings || '{"since": "${since}"}'`);
  const bounded = await runAt(0, () => ({ since }));
  // All of it would be a hundred pages.
  expect(bounded).toBeLessThan(100);

  const requests = await runAt(hourMs, (lane) => {
    const again = readAgain(lane);
    return again && { ...again, since };
  });

  // It stops where the first reading ended, which was requested twice there.
  expect(requests).toBe(bounded - 1);
});

test('a full re-scan finds all late, removed and restored items', async () => {
  const { runAt, stored, expectedAt, query } = await watchOperations(
    {
      userOperations: 1000,
      motion: {
        operationsPerMinute: 60,
        latePercent: 4,
        latestLateMs: 2 * hourMs,
        orphanedPercent: 4,
        reincludedPercent: 50,
      },
    },
    { resweep: [] },
  );
  const endMs = 2 * hourMs;
  for (let atMs = 0; atMs <= endMs; atMs += 5 * minuteMs) await runAt(atMs);
  expect(await stored()).not.toEqual(expectedAt(endMs));

  await runAt(endMs, readAgain);

  expect(await stored()).toEqual(expectedAt(endMs));
  expect(await query(`select from etl.walks where scope ? 'again'`)).toHaveLength(4);
  expect(await query('select from explorer.gaps')).toEqual([]);
});

test('if stored cursors are refused, the range is read again from the head', async () => {
  const { runAt, query } = await watchOperations({ userOperations: 5000 });
  await runAt(0);
  await query(
    `update etl.pages set cursor_in = jsonb_set(cursor_in, '{page_token}', to_jsonb('gone ' || id))`,
  );

  const requests = await runAt(hourMs, readAgain);

  const [last] = await query(
    'select from_head, state, pages from etl.walks order by id desc limit 1',
  );
  expect(last).toEqual({ from_head: true, state: 'finished', pages: '100' });
  const parts = 4;
  expect(requests).toBeLessThanOrEqual(100 + 100 / parts + 1 + (parts - 1));
});
