import type { JobWithMetadata } from 'pg-boss';
import { expect, test } from 'vitest';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { createLog } from '../../../src/log.ts';
import { handleFeeds } from '../../../src/sync/lanes.ts';
import { openLane, sliceQueue } from '../../../src/sync/queue.ts';
import { runSlice, type SliceDependencies } from '../../../src/sync/slice.ts';
import { simulated } from '../../harness/explorer.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { openContender } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';

const chain = { ...plainChain, userOperations: 600 };
const lane: FeedLane = { chain_id: chain.id, operation: 'user-operations', lane: 'backfill' };

type Replaced = Pick<SliceDependencies, 'now'> & Partial<Pick<SliceDependencies, 'log'>>;

/** A worker's engine, a slice of a run that it has fetched, and how many more are queued. */
async function openScene() {
  const simulator = await simulated({ seed: 1, chains: [chain], latencyMs: 10 });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], pageSize: 10 };
  const engine = await openContender(database, run);
  await openLane(engine.db, engine.boss, { lane, scope: {} });
  const [job] = await engine.boss.fetch<FeedLane>(sliceQueue, { includeMetadata: true });
  if (job === undefined) throw new Error('no slice was queued');
  const queued = async () => {
    const rows = await database.query(
      "select from pgboss.job where name = $1 and state = 'created'",
      [sliceQueue],
    );
    return rows.length;
  };
  const work = (
    fetched: JobWithMetadata<FeedLane>,
    { now, log = engine.log }: Replaced = engine,
  ) => {
    const never = new AbortController().signal;
    const dependencies = {
      ...engine,
      now,
      log,
      works: () => true,
      kind: 'start',
    } as const;
    return runSlice(fetched, dependencies, { stopping: never, abort: never });
  };
  return { ...database, simulator, engine, job, queued, work };
}

test('the last slice of a run queues no further one', async () => {
  const { job, queued, work } = await openScene();

  await work(job);

  expect(await queued()).toBe(0);
});

test('the running slice queues one for the run that replaces its own', async () => {
  const { simulator, engine, job, queued, work } = await openScene();
  const working = work(job);
  await eventually('pages to be read', async () => simulator.requests > 5);

  await openLane(engine.db, engine.boss, { lane, scope: { max_pages: 2 } });
  await working;

  expect(await queued()).toBe(1);
});

test('a slice whose feed is paused ends and queues none, and the run goes on when it is resumed', async () => {
  const { simulator, engine, job, queued, work, query } = await openScene();
  // The slice looks around more often than every ten seconds.
  const working = work(job, { now: () => 50 * engine.now() });
  await eventually('pages to be read', async () => simulator.requests > 0);

  await handleFeeds(engine.db, ['10/user-operations'], 'pause');
  await working;

  expect(await queued()).toBe(0);
  const open =
    "select stopped_at is not null as is_stopped from etl.runs join etl.lanes using (feed, lane) where state = 'open'";
  expect(await query(open)).toEqual([{ is_stopped: true }]);
  expect(simulator.requests).toBeLessThan(60);
  await openLane(engine.db, engine.boss, { lane, scope: {} });
  const [early] = await engine.boss.fetch<FeedLane>(sliceQueue, { includeMetadata: true });
  if (early !== undefined) await work(early);
  expect(await queued()).toBe(0);

  await handleFeeds(engine.db, ['10/user-operations'], 'resume');
  await openLane(engine.db, engine.boss, { lane, scope: {} });
  const [next] = await engine.boss.fetch<FeedLane>(sliceQueue, { includeMetadata: true });
  if (next === undefined) throw new Error('no slice was queued');
  await work(next);

  expect(await query(open)).toEqual([]);
  expect(await query('select from explorer.user_operations')).toHaveLength(600);
});

test.each([
  ['yields to a lane that is due', "now() - interval '1 minute'", 2],
  ['continues while no other lane is due', "now() + interval '1 hour'", 1],
])('a slice whose time is over %s', async (_, due, left) => {
  const { simulator, engine, pool, job, queued, work } = await openScene();
  await openLane(engine.db, engine.boss, { lane: { ...lane, lane: 'live' }, scope: {} });
  await pool.query(`update etl.lanes set due_at = ${due} where lane = 'live'`);

  await work(job, { ...engine, now: () => (simulator.requests > 5 ? 11_000 : 0) });

  // That lane's, and the next one of its own where it gave way.
  expect(await queued()).toBe(left);
});

test('a slice logs schema drift before its run ends, and the next slice does not repeat it', async () => {
  const { simulator, engine, pool, job, queued, work } = await openScene();
  const lines: string[] = [];
  const style = { format: 'json', isColoured: false, now: () => 0 } as const;
  const log = createLog('info', (line) => void lines.push(line), style);
  const logged = () =>
    lines
      .map((line) => JSON.parse(line) as { event: string; ways?: number })
      .filter(({ event }) => event === 'feed.drift')
      .reduce((sum, { ways = 0 }) => sum + ways, 0);
  const counted = async () => (await pool.query('select from etl.drift')).rows.length;
  await openLane(engine.db, engine.boss, { lane: { ...lane, lane: 'live' }, scope: {} });
  await pool.query("update etl.lanes set due_at = now() - interval '1 minute' where lane = 'live'");

  await work(job, { ...engine, log, now: () => (simulator.requests > 5 ? 11_000 : 0) });
  expect(await queued()).toBe(2);
  expect(logged()).toBeGreaterThan(0);
  expect(logged()).toBe(await counted());

  await pool.query("delete from pgboss.job where state = 'created' and data->>'lane' = 'live'");
  const [next] = await engine.boss.fetch<FeedLane>(sliceQueue, { includeMetadata: true });
  if (next === undefined) throw new Error('no slice was queued');
  await work(next, { ...engine, log, now: () => 0 });
  expect(await queued()).toBe(0);
  expect(logged()).toBe(await counted());
});
