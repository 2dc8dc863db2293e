import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { openBudget } from '../../../src/explorer/budget.ts';
import { type KeyLimits, limitsOf } from '../../../src/explorer/key.ts';
import { createLog } from '../../../src/log.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { transact } from '../../../src/db/transaction.ts';
import { readCredits } from '../../../src/status/credits.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import {
  chainSlice,
  fetchSlices,
  installQueues,
  leaveSlice,
  openLane,
  queueSlice,
  sliceQueue,
  startBoss,
  takeSlice,
  takeUp,
} from '../../../src/sync/queue.ts';
import { isToGiveWay } from '../../../src/sync/slice.ts';
import { noteStopped } from '../../../src/sync/runs.ts';
import {
  laneWork,
  type LaneWork,
  openPresence,
  presentWorkers,
} from '../../../src/sync/workers.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';

const lane: FeedLane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' };
const aProcess = (limits: KeyLimits = {}) =>
  ({ workerId: randomUUID(), kind: 'start', deployment: null, limits }) as const;
const silence = "interval '1 minute'";

async function openScene() {
  const database = await freshDatabase();
  const { url, db, query } = database;
  await installQueues(database);
  const log = createLog('silent', () => undefined);
  const aBoss = async () => {
    const boss = await startBoss({ url, log });
    onTestFinished(() => boss.stop({ graceful: false }));
    return boss;
  };
  const named = { ...lane, chain_name: 'optimism', settings: {} };
  await registerFeeds(db, [named], 'file', { origin: 'http://127.0.0.1', isSameData: false });
  const boss = await aBoss();
  const take = async (by = boss) => {
    const [job] = await by.fetch<FeedLane>(sliceQueue, { includeMetadata: true });
    return job;
  };
  const mustTake = async () => {
    const job = await take();
    if (job === undefined) throw new Error('no slice was queued');
    return job;
  };
  const holder = async () => {
    const { rows } = await db.execute<{ work: LaneWork | null }>(
      sql`select ${laneWork} as work from etl.lanes`,
    );
    return rows.map(({ work }) => {
      if (work === null) return null;
      if (work.is_held !== null) return work.is_held ? 'held' : 'lost';
      return work.until === null ? 'queued' : 'resting';
    });
  };
  const queued = async () =>
    (await query(`select from pgboss.job where name = $1 and state = 'created'`, [sliceQueue]))
      .length;
  return { ...database, boss, aBoss, take, mustTake, holder, queued };
}

test('a slice whose worker falls silent goes to another one, and the silent one changes nothing when it is back', async () => {
  const { db, query, boss, aBoss, take, mustTake, holder, queued } = await openScene();
  const [first, second] = [aProcess(), aProcess()];
  await openPresence(db, first).beat();
  await openLane(db, boss, { lane, scope: {} });
  expect(await holder()).toEqual(['queued']);

  const job = await mustTake();
  expect(await takeSlice({ db, boss, job }, first.workerId)).toBe('taken');
  expect(await holder()).toEqual(['held']);
  await query(`update etl.workers set seen_at = seen_at - ${silence}`);
  expect(await holder()).toEqual(['lost']);
  await query(`update pgboss.job set heartbeat_on = heartbeat_on - ${silence}`);

  const other = await aBoss();
  await openPresence(db, second).beat();
  expect(await openPresence(db, aProcess()).beat()).toBe(true);
  await other.supervise(sliceQueue);
  const taken = await eventually('the slice to be in the queue again', () => take(other));
  expect(taken.id).toBe(job.id);
  expect(await takeSlice({ db, boss: other, job: taken }, second.workerId)).toBe('taken-over');
  expect(await takeSlice({ db, boss, job }, first.workerId)).toBe('gone');
  await chainSlice({ db, boss, job }, 0);
  expect(await holder()).toEqual(['held']);
  expect(await query('select worker from etl.lanes')).toEqual([{ worker: second.workerId }]);
  expect(await queued()).toBe(0);

  await chainSlice({ db, boss: other, job: taken }, 0);
  expect(await holder()).toEqual(['queued']);
  expect(await queued()).toBe(1);
});

test('an open run whose job is lost is queued again by a process that works on its lane', async () => {
  const { db, query, boss, queued } = await openScene();
  await openLane(db, boss, { lane, scope: {} });
  await query('delete from pgboss.job');

  await takeUp({ db, boss }, () => false);
  expect(await queued()).toBe(0);
  await takeUp({ db, boss }, () => true);
  expect(await queued()).toBe(1);
  await takeUp({ db, boss }, () => true);
  expect(await queued()).toBe(1);
});

test('a process takes no slice of a lane that it does not work on, and the lane does not wait for it', async () => {
  const { db, boss, holder, mustTake } = await openScene();
  await openLane(db, boss, { lane, scope: {} });
  expect(await fetchSlices({ db, boss }, () => false, 8)).toEqual([]);
  expect(await holder()).toEqual(['queued']);

  await leaveSlice({ db, boss, job: await mustTake() }, 0);
  expect(await fetchSlices({ db, boss }, () => false, 8)).toEqual([]);
  const own = await fetchSlices({ db, boss }, () => true, 8);
  expect(own.map(({ data }) => data)).toEqual([lane]);
});

test('a slice that a process leaves to others waits in the queue again, and its lane is free', async () => {
  const { db, boss, take, mustTake, holder, queued } = await openScene();
  await openLane(db, boss, { lane, scope: {} });

  await leaveSlice({ db, boss, job: await mustTake() }, 600_000);

  expect(await holder()).toEqual(['queued']);
  expect(await queued()).toBe(1);
  expect(await take()).toBeUndefined();
});

test('a slice gives way to a lane that has waited, and to no lane that another process is for', async () => {
  const { db, query, boss, mustTake } = await openScene();
  await openLane(db, boss, { lane, scope: {} });
  const { workerId } = aProcess();
  await openPresence(db, { ...aProcess(), workerId }).beat();
  await takeSlice({ db, boss, job: await mustTake() }, workerId);
  const givesWay = (works: boolean) => isToGiveWay({ db, works: () => works }, lane);
  expect(await givesWay(true)).toBe(false);

  await query(`insert into etl.lanes (feed, lane, due_at)
    select feed, 'live', now() - interval '1 minute' from etl.feeds`);

  expect(await givesWay(true)).toBe(true);
  expect(await givesWay(false)).toBe(false);
});

test.each(['the run first', 'the slice first'])(
  'a run that is opened while the last slice of its lane ends has a slice in the queue: %s',
  async (order) => {
    const { db, pool, query, boss, mustTake, queued } = await openScene();
    await openLane(db, boss, { lane, scope: {} });
    const job = await mustTake();
    await takeSlice({ db, boss, job }, aProcess().workerId);
    await query(`update etl.runs set state = 'finished'`);
    const gate = await pool.connect();
    onTestFinished(() => gate.release(true));
    await gate.query('begin');
    // Both wait in the middle of their transactions.
    await gate.query('lock table pgboss.job in share mode');
    const opening = () => openLane(db, boss, { lane, scope: {} });
    const ending = () => chainSlice({ db, boss, job }, 0);
    const [begun, next] =
      order === 'the run first' ? [opening, ending] : ([ending, opening] as const);
    const one = begun();
    await untilLocked(pool, 1);
    const two = next();
    await untilLocked(pool, 2);

    await gate.query('commit');
    await Promise.all([one, two]);

    expect(await queued()).toBe(1);
    expect(await query(`select from etl.runs where state = 'open'`)).toHaveLength(1);
  },
);

test('a lane whose worker was stopped is due for no one, and its next slice is queued', async () => {
  const { db, query, boss, mustTake, holder, queued } = await openScene();
  await openLane(db, boss, { lane, scope: {} });
  const job = await mustTake();
  await takeSlice({ db, boss, job }, aProcess().workerId);

  await chainSlice({ db, boss, job }, 'stopped');

  expect(await holder()).toEqual([null]);
  expect(await query('select stopped_at is not null as stopped from etl.lanes')).toEqual([
    { stopped: true },
  ]);
  expect(await queued()).toBe(1);
});

test('a lane that backs off as its worker is stopped goes on at once when a process takes up what is open', async () => {
  const { db, boss, take, mustTake, holder } = await openScene();
  await openLane(db, boss, { lane, scope: {} });
  const job = await mustTake();
  await takeSlice({ db, boss, job }, aProcess().workerId);
  await chainSlice({ db, boss, job }, 600_000);
  expect(await holder()).toEqual(['resting']);
  await noteStopped(db, 'all');
  expect(await holder()).toEqual([null]);
  expect(await take()).toBeUndefined();

  await transact(db, (tx) => queueSlice(boss, tx, lane, 'in turn'));

  expect(await holder()).toEqual(['queued']);
  expect(await take()).toBeDefined();
});

test('an outage that silences all workers is one lost connection on the timeline, and none was killed', async () => {
  const { db, query } = await openScene();
  const presences = [openPresence(db, aProcess()), openPresence(db, aProcess())];
  const beats = async (count: number) => {
    for (let beat = 0; beat < count; beat += 1) for (const each of presences) await each.beat();
  };
  await beats(6);
  expect(await presentWorkers(db)).toEqual({ start: 2, once: 0 });

  await query(`update etl.workers set seen_at = seen_at - ${silence}`);
  expect(await presentWorkers(db)).toEqual({ start: 0, once: 0 });
  await presences[0]?.beat();
  await beats(6);

  expect(await presentWorkers(db)).toEqual({ start: 2, once: 0 });
  expect(await query('select kind, feed from etl.events')).toEqual([
    { kind: 'connection-lost', feed: null },
  ]);
});

test('a worker that is killed is on the timeline, once, when others have been seen for as long', async () => {
  const { db, query } = await openScene();
  await openPresence(db, aProcess()).beat();
  await query(`update etl.workers set seen_at = seen_at - ${silence}`);
  const presences = [openPresence(db, aProcess()), openPresence(db, aProcess())];
  for (const each of presences) await each.beat();
  expect(await query('select from etl.events')).toEqual([]);

  for (let beat = 0; beat < 5; beat += 1) for (const each of presences) await each.beat();

  expect(await query('select kind, feed from etl.events')).toEqual([
    { kind: 'killed', feed: null },
  ]);
  expect(await query('select from etl.workers')).toHaveLength(2);
});

test('a worker that stops by itself is not missed', async () => {
  const { db, query } = await openScene();
  const presence = openPresence(db, aProcess());
  await presence.beat();
  expect(await query('select kind from etl.workers')).toEqual([{ kind: 'start' }]);

  await presence.close();

  expect(await query('select from etl.workers')).toEqual([]);
});

test('of the limits that processes at work state for one key the lowest hold, and a new one changes none by itself', async () => {
  const { db, pool, query } = await openScene();
  const apiKey = 'a-key';
  const stated = (requestsPerSecond: number, dailyCredits: number | null) => ({
    apiKey,
    requestsPerSecond,
    dailyCredits,
  });
  const [careful, hasty] = [stated(5, 1_000), stated(50, null)];
  const open = (key: typeof careful) =>
    openBudget({ ...key, pool, limitName: 'a file', sleep: async () => {}, now: () => 0 });
  const held = () => query('select requests_per_second, daily_credits from etl.budget');
  const shown = async () => (await readCredits(db)).keys.map(({ limits }) => limits.length);
  const low = [{ requests_per_second: 5, daily_credits: '1000' }];
  const high = [{ requests_per_second: 50, daily_credits: null }];
  await open(careful);
  const first = openPresence(db, aProcess(limitsOf([careful])));
  await first.beat();
  expect(await shown()).toEqual([1]);

  await open(hasty);
  expect(await held()).toEqual(low);
  const second = openPresence(db, aProcess(limitsOf([hasty])));
  await second.beat();
  expect(await held()).toEqual(low);
  expect(await shown()).toEqual([2]);

  await first.close();
  await second.beat();
  expect(await held()).toEqual(high);
  expect(await shown()).toEqual([1]);

  await openPresence(db, aProcess(limitsOf([careful]))).beat();
  expect(await held()).toEqual(low);
});

test("a feed that another process's limit of a day stops says whose limit it is", async () => {
  const { db, pool, query } = await openScene();
  const stated = { apiKey: 'a-key', requestsPerSecond: 5 };
  const clock = { sleep: async () => {}, now: () => 0 };
  const own = { ...stated, dailyCredits: 1_000 };
  const budget = await openBudget({ ...own, ...clock, pool, limitName: 'our file' });
  const others = limitsOf([{ ...stated, dailyCredits: 0 }]);
  await openPresence(db, { ...aProcess(others), kind: 'once', deployment: 'staging' }).beat();
  await query(`update etl.workers set host = 'host-b'`);

  const paused = budget.take('live', new AbortController().signal);

  await expect(paused).rejects.toMatchObject({
    failure: 'daily-limit',
    detail: expect.stringMatching(
      /^the 0 credits of a day are used \(daily_credits of another command of staging on host-b, while it works\)/u,
    ),
  });
  const { keys } = await readCredits(db);
  expect(keys.flatMap(({ limits }) => limits)).toEqual([
    {
      requests_per_second: 5,
      daily_credits: 0,
      stated_by: ['another command of staging on host-b'],
    },
  ]);
});

test('a process that is alone goes by its own limits at once, whatever the last one stated', async () => {
  const { pool, query } = await openScene();
  const own = { apiKey: 'a-key', requestsPerSecond: 5, limitName: 'a file', pool };
  const open = (dailyCredits: number | null) =>
    openBudget({ ...own, dailyCredits, sleep: async () => {}, now: () => 0 });
  await open(20);
  await open(1_000);
  expect(await query('select daily_credits from etl.budget')).toEqual([{ daily_credits: '1000' }]);
  await open(null);
  expect(await query('select daily_credits from etl.budget')).toEqual([{ daily_credits: null }]);
});
