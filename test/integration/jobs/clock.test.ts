import { expect, onTestFinished, test } from 'vitest';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { isPolledLater, pollLater } from '../../../src/feeds/recover.ts';
import { sliceQueue } from '../../../src/jobs/boss.ts';
import { openLane } from '../../../src/jobs/schedule.ts';
import { sendSlice } from '../../../src/jobs/send.ts';
import { serve } from '../../../src/jobs/serve.ts';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { setClockBack } from '../../harness/clock.ts';
import { openContender } from '../../harness/contender.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { hangMs } from '../../harness/hang.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 0, blocks: 0 },
  factories: 0,
};
const lane: FeedLane = { chain_id: chain.id, operation: 'user-operations', lane: 'backfill' };
async function openScene() {
  const simulator = await startSimulator({ seed: 1, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const engine = await openContender(database, { url: simulator.url, chains: [chain] });
  /**
   * Serves without schedules, so that nothing but the queue says what to do, until the run ends.
   *
   * @returns how many operations were copied
   */
  const copied = async () => {
    const stop = new AbortController();
    const serving = serve([], engine, stop.signal);
    try {
      await eventually('the run to end', hangMs, async () => {
        const { rows } = await database.pool.query(`select from etl.runs where state = 'finished'`);
        return rows.length > 0;
      });
      const { rows } = await database.pool.query('select from explorer.user_operations');
      return rows.length;
    } finally {
      stop.abort();
      await serving;
    }
  };
  return { ...database, engine, copied };
}

test('a job that waits is due when it was, after the clock was set back', async () => {
  const { pool, engine, copied } = await openScene();
  await openLane(engine.db, engine.boss, lane, {});
  await setClockBack(pool, '1 hour');
  expect(await copied()).toBe(chain.userOperations);
});

test('a rest lasts no longer than it would have, after the clock was set back', async () => {
  const { pool, engine, copied } = await openScene();
  await openLane(engine.db, engine.boss, lane, {});
  await pool.query('delete from pgboss.job');
  await sendSlice(engine.boss, lane, { afterMs: 2_000 });
  await setClockBack(pool, '10 years');
  expect(await copied()).toBe(chain.userOperations);
});

test("a dead worker's job is taken over, after the clock was set back", async () => {
  const { pool, engine, copied } = await openScene();
  await openLane(engine.db, engine.boss, lane, {});
  expect(await engine.boss.fetch(sliceQueue)).toHaveLength(1);
  await setClockBack(pool, '1 hour');
  expect(await copied()).toBe(chain.userOperations);
});

test('a chain that is looked at again in a day is not left alone for years', async () => {
  const { pool, engine } = await openScene();
  await pollLater(engine.db, lane, 86_400_000);
  expect(await isPolledLater(engine.db, lane)).toBe(true);
  await setClockBack(pool, '10 years');
  expect(await isPolledLater(engine.db, lane)).toBe(false);
});
