import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { createLog } from '../../../src/log.ts';
import { type ConfiguredLane, registerFeeds } from '../../../src/sync/feeds.ts';
import { handleFeeds, openDue, scheduleLanes, wantLanes } from '../../../src/sync/lanes.ts';
import { installQueues, startBoss } from '../../../src/sync/queue.ts';
import { closeRun, currentRun } from '../../../src/sync/runs.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openRun } from '../../harness/runs.ts';

const lane: FeedLane = { chain_id: 10, operation: 'factories', lane: 'backfill' };

const scheduleOf = (cron: string, scope = {}): ConfiguredLane => ({
  lane,
  cron,
  timezone: 'UTC',
  scope,
});

/** A lane that `start` polls by a schedule, on the database's clock. */
async function scene(cron: string) {
  const database = await freshDatabase();
  const { db, url, query } = database;
  await installQueues(database);
  const settings = { schedule: cron, timezone: 'UTC' };
  await registerFeeds(db, [{ ...lane, chain_name: 'optimism', settings }], 'file', {
    origin: 'http://127.0.0.1',
    isSameData: false,
  });
  await wantLanes(db, [lane], { deployment: 'a', isWhole: true, takes: [] });
  const boss = await startBoss({ url, log: createLog('silent', () => undefined) });
  onTestFinished(() => boss.stop({ graceful: false }));
  await scheduleLanes(db, [scheduleOf(cron)], 'a');
  return {
    db,
    query,
    /** What each process does every two seconds. */
    poll: (clock = () => new Date()) => openDue({ db, boss, clock }),
    start: (schedule: ConfiguredLane) => scheduleLanes(db, [schedule], 'a'),
    makeDue: (ago: string) =>
      query(`update etl.lanes set next_due_at = clock_timestamp() - interval '${ago}'`),
    runs: async () => {
      const rows = await query('select state from etl.runs order by id');
      return rows.map(({ state }) => state);
    },
    isDueAgain: async () => {
      const [row] = await query('select next_due_at > clock_timestamp() as later from etl.lanes');
      return row?.later;
    },
    /** Ends the run that is open, as its last slice does. */
    finish: async () => {
      const run = await currentRun(db, lane);
      if (run !== null) await closeRun(db, run, 'finished', null);
    },
  };
}

test('a lane that is due is read once, and is due again at its next time', async () => {
  const { poll, makeDue, runs, isDueAgain, finish } = await scene('0 0 1 1 *');
  await poll();
  expect(await runs()).toEqual([]);

  await makeDue('1 second');
  await poll();
  expect(await runs()).toEqual(['open']);
  expect(await isDueAgain()).toBe(true);

  await finish();
  await poll();
  expect(await runs()).toEqual(['finished']);
});

test('several processes that find a lane due open one run', async () => {
  const { poll, makeDue, runs } = await scene('0 0 1 1 *');
  await makeDue('1 second');

  const opened = await Promise.all(Array.from({ length: 6 }, () => poll()));

  expect(opened.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(await runs()).toEqual(['open']);
});

test('a run that outlasts its interval replaces the later ones, so that none pile up', async () => {
  const { poll, makeDue, runs, finish } = await scene('0 0 1 1 *');
  for (let round = 0; round < 3; round += 1) {
    await makeDue('1 second');
    await poll();
  }
  expect(await runs()).toEqual(['open']);

  await finish();
  await makeDue('1 second');
  await poll();
  expect(await runs()).toEqual(['finished', 'open']);
});

test.each([
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
  ['a day ahead', 86_400_000],
  ['a day behind', -86_400_000],
])('a machine whose clock is %s polls when Postgres says so, once', async (_, wrongMs) => {
  const { poll, makeDue, query, runs, isDueAgain, finish } = await scene('0 * * * *');
  const wrong = () => new Date(Date.now() + wrongMs);
  const next = async () => (await query('select next_due_at::text as at from etl.lanes'))[0]?.at;
  const due = await next();
  await poll(wrong);
  expect(await runs()).toEqual([]);
  expect(await next()).toBe(due);

  await makeDue('1 second');
  await poll(wrong);
  expect(await runs()).toEqual(['open']);
  expect(await next()).toBe(due);
  await finish();
  await poll(wrong);

  expect(await runs()).toEqual(['finished']);
  expect(await isDueAgain()).toBe(true);
});

test('schedules missed while no process ran are made up by one run', async () => {
  const { start, poll, makeDue, runs, isDueAgain, finish } = await scene('0 0 1 1 *');
  await makeDue('3 hours');

  await start(scheduleOf('0 0 1 1 *'));
  await poll();
  await finish();
  await poll();

  expect(await runs()).toEqual(['finished']);
  expect(await isDueAgain()).toBe(true);
});

test('a start whose file bounds a list otherwise ends its open run', async () => {
  const { start, poll, makeDue, runs } = await scene('0 0 1 1 *');
  await makeDue('1 second');
  await poll();

  await start(scheduleOf('0 0 1 1 *', { since: '2026-01-01' }));

  expect(await runs()).toEqual(['superseded']);
});

test('a lane whose feed another transaction holds keeps no other lane waiting', async () => {
  const { db, query, poll, makeDue } = await scene('0 0 1 1 *');
  const other: FeedLane = { ...lane, chain_id: 8453 };
  const settings = { schedule: '0 0 1 1 *', timezone: 'UTC' };
  const feed = { ...other, chain_name: 'base', settings };
  const source = { origin: 'http://127.0.0.1', isSameData: false };
  await registerFeeds(db, [feed], 'file', source);
  await wantLanes(db, [other], { deployment: 'a', isWhole: false, takes: [] });
  await scheduleLanes(db, [{ ...scheduleOf('0 0 1 1 *'), lane: other }], 'a');
  await makeDue('1 second');
  await transact(db, async (tx) => {
    await tx.execute(sql`select from etl.lanes where feed = '10/factories' for update`);
    await expect(poll()).rejects.toThrow('etl.lanes');
  });

  expect(await query('select feed from etl.runs')).toEqual([{ feed: '8453/factories' }]);
});

test('a requested poll waits for a run with other bounds to end', async () => {
  const { db, query, poll, runs, finish } = await scene('0 0 1 1 *');
  await openRun(db, lane, { since: '2026-01-01' });
  await handleFeeds(db, ['10/factories'], 'run');
  await poll();
  expect(await runs()).toEqual(['open']);

  await finish();
  await poll();

  expect(await runs()).toEqual(['finished', 'open']);
  expect(await query('select requested_at from etl.lanes')).toEqual([{ requested_at: null }]);
});
