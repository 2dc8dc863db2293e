import { expect, test } from 'vitest';
import { minuteMs, watchOperations } from './watch.ts';

const pageSize = 20;
const operationsPerMinute = 60;

test('a live run costs the pages of what is new, those of the overlap, and one more at most', async () => {
  const { runAt, query } = await watchOperations(
    { motion: { operationsPerMinute } },
    { pageSize, resweep: [] },
  );
  await runAt(0);
  const overlapPages = Math.ceil((operationsPerMinute * 0.5) / pageSize);
  const count = async () =>
    Number((await query('select count(*) as n from explorer.user_operations'))[0]?.['n']);
  let atMs = 0;
  for (const minutes of [1, 5, 2, 0.1, 12, 1, 0.5, 7]) {
    const before = await count();
    atMs += minutes * minuteMs;
    const requests = await runAt(atMs);
    const isNew = (await count()) - before;
    expect(requests).toBeLessThanOrEqual(Math.ceil(isNew / pageSize) + overlapPages + 1);
  }
});

test('a run with nothing new costs one request, however many rules there are', async () => {
  const { runAt } = await watchOperations({ userOperations: 600 });
  await runAt(0);

  expect(await runAt(5 * minuteMs)).toBe(1);
});
