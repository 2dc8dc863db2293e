import { PgBoss, TestClock } from 'pg-boss';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/db/transaction.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { type ConfiguredLane, registerFeeds } from '../../../src/sync/feeds.ts';
import { installQueues, setSchedules, workOnRuns } from '../../../src/sync/queue.ts';
import { closeRun, currentRun } from '../../../src/sync/runs.ts';
import { runQueue } from '../../../src/sync/workers.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const lane: FeedLane = { chain_id: 10, operation: 'factories', lane: 'backfill' };

const scheduleOf = (cron: string, timezone = 'UTC'): ConfiguredLane => ({
  lane,
  cron,
  timezone,
  scope: {},
});

/** pg-boss with its real scheduler, on a clock that the test drives. */
async function openBoss(database: TestDatabase, clock: TestClock): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: database.url,
    schema: 'pgboss',
    migrate: false,
    createSchema: false,
    supervise: false,
    schedule: true,
    clock,
  });
  boss.on('error', () => undefined);
  await boss.start();
  return boss;
}

async function scene(start: string) {
  const database = await freshDatabase();
  await installQueues(database.url);
  const db: Database = database.db;
  await registerFeeds(db, [{ ...lane, chain_name: 'optimism', settings: {} }], 'file', {
    origin: 'http://127.0.0.1',
    isSameData: false,
  });
  const clock = new TestClock(start);
  let boss = await openBoss(database, clock);
  onTestFinished(async () => {
    await boss.stop({ graceful: false });
  });
  const work = () => workOnRuns({ db, boss, clock: () => new Date(clock.now()) });
  /** How many runs the scheduler has sent, and none of them waits to be answered. */
  const sent = async () => {
    const rows = await database.query(
      `select count(*)::int as sent,
              (count(*) filter (where state <> 'completed'))::int as waiting
       from pgboss.job where name = $1`,
      [runQueue],
    );
    return rows[0] ?? { sent: 0, waiting: 0 };
  };
  /** Lets so much time pass, minute by minute, each with what it started answered. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += minuteMs) {
      await clock.tick(Math.min(minuteMs, ms - passed));
      await eventually('the runs to be answered', async () => {
        if ((await sent()).waiting === 0) return true;
        await clock.tick(secondMs);
        return false;
      });
    }
  };
  const runs = async () => {
    const rows = await database.query('select state from etl.runs order by id');
    return rows.map(({ state }) => state);
  };
  /** Ends the run that is open, as its last slice does. */
  const finish = async () => {
    const run = await currentRun(db, lane);
    if (run !== null) await closeRun(db, run, 'finished', null);
  };
  return {
    clock,
    pass,
    runs,
    finish,
    sent: async () => (await sent()).sent,
    set: (schedule: ConfiguredLane) => setSchedules(db, boss, [schedule]),
    work,
    /** All processes stop, and one starts `ms` later. */
    sleep: async (ms: number) => {
      await boss.stop({ graceful: false });
      await clock.setTime(clock.now() + ms);
      boss = await openBoss(database, clock);
      await work();
    },
  };
}

test('a lane runs at the times of its cron schedule, in its time zone', async () => {
  const { set, work, pass, runs, finish } = await scene('2026-11-21T04:57:30Z');
  // Berlin is one hour ahead of UTC in November.
  await set(scheduleOf('0,5 6 * * *', 'Europe/Berlin'));
  await work();

  await pass(2 * minuteMs);
  expect(await runs()).toEqual([]);
  await pass(2 * minuteMs);
  expect(await runs()).toEqual(['open']);
  await finish();
  await pass(5 * minuteMs);
  expect(await runs()).toEqual(['finished', 'open']);
});

test('a run that outlasts its interval replaces the later ones, so that none pile up', async () => {
  const { set, work, pass, runs, sent, finish } = await scene('2026-11-21T05:00:30Z');
  await set(scheduleOf('* * * * *'));
  await work();

  await pass(5 * minuteMs);
  expect(await sent()).toBeGreaterThanOrEqual(4);
  expect(await runs()).toEqual(['open']);

  await finish();
  await pass(minuteMs);
  expect(await runs()).toEqual(['finished', 'open']);
});

test('schedules missed while no process ran are made up by one run', async () => {
  const { set, work, pass, runs, sent, sleep } = await scene('2026-11-21T05:01:30Z');
  await set(scheduleOf('*/5 * * * *'));
  await work();
  await pass(minuteMs);
  expect(await sent()).toBe(0);

  await sleep(3 * hourMs);
  await pass(minuteMs);

  expect(await sent()).toBe(1);
  expect(await runs()).toEqual(['open']);
});
