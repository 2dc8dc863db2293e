import { expect, test } from 'vitest';
import { statusFaults } from '../../../simulator/index.ts';
import { setClockBack } from '../../harness/clock.ts';
import { openScene, openWorker, rejection } from './keyed.ts';

/** Without the mend a request waits for as long as the clock was set back, which no test does. */
const setBack = ['20 minutes', '1 hour', '10 years'];
const lanes = ['live', 'backfill'] as const;

test.each(setBack.flatMap((by) => lanes.map((lane) => ({ by, lane }))))(
  "a database's clock that was set back by $by does not hold the slots of $lane",
  async ({ by, lane }) => {
    const { simulator, database } = await openScene();
    const worker = await openWorker(database, simulator.url, { requestsPerSecond: 5 });
    await worker.fetch('live');
    await setClockBack(database.pool, by);
    for (let i = 0; i < 3; i += 1) await worker.fetch(lane);
    expect(simulator.requests).toBe(4);
  },
);

test.each(lanes)(
  'a head that nobody can have taken does not hold the slots of %s',
  async (lane) => {
    const { simulator, database } = await openScene();
    const worker = await openWorker(database, simulator.url, { requestsPerSecond: 5 });
    await database.pool.query(`update etl.budget set next_at = now() + interval '1 hour'`);
    for (let i = 0; i < 3; i += 1) await worker.fetch(lane);
    expect(simulator.requests).toBe(3);
  },
);

test('a pause lasts no longer than it would have, when the clock is set back', async () => {
  const { simulator, database } = await openScene({
    faults: ({ number }) =>
      number === 0 ? { ...statusFaults['429-bare'], headers: { 'retry-after': 1200 } } : null,
  });
  const worker = await openWorker(database, simulator.url);
  await rejection(worker.fetch());
  await setClockBack(database.pool, '1 hour');
  const { retryAfterMs } = (await rejection(worker.fetch())) as { retryAfterMs: number };
  // From the moment that the refused request took its slot, not from the answer.
  expect(retryAfterMs).toBeLessThan(1_800_000);
});

test('a clock that is set back over midnight gives no second day of credits', async () => {
  const { simulator, database } = await openScene();
  const worker = await openWorker(database, simulator.url, { dailyCredits: 20 });
  await worker.fetch();
  await database.pool.query('update etl.budget set credits_day = credits_day + 1');
  expect(await rejection(worker.fetch())).toMatchObject({ failure: 'out-of-credits' });
  expect(simulator.requests).toBe(1);
});
