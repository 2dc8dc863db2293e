import { expect, test } from 'vitest';
import { setClockBack } from '../../harness/clock.ts';
import { openScene, openWorker, rejection } from './keyed.ts';

/** A reserved slot that lies so far ahead counts as none: a request would wait for as long. */
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
  'a head that no worker can have taken does not hold the slots of %s',
  async (lane) => {
    const { simulator, database } = await openScene();
    const worker = await openWorker(database, simulator.url, { requestsPerSecond: 5 });
    await database.pool.query(`update etl.budget set next_at = now() + interval '1 hour'`);
    for (let i = 0; i < 3; i += 1) await worker.fetch(lane);
    expect(simulator.requests).toBe(3);
  },
);

test('a clock that is set back over midnight gives no second day of credits', async () => {
  const { simulator, database } = await openScene();
  const worker = await openWorker(database, simulator.url, { dailyCredits: 20 });
  await worker.fetch();
  await database.pool.query('update etl.budget set credits_day = credits_day + 1');
  expect(await rejection(worker.fetch())).toMatchObject({ failure: 'out-of-credits' });
  expect(simulator.requests).toBe(1);
});
