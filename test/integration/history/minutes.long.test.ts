import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { keepHistory } from '../../../src/history/keep.ts';
import { countMinutes } from '../../../src/history/minute.ts';
import { thinHistory } from '../../../src/history/thin.ts';
import { noteFeedMinutes } from '../../../src/history/write.ts';
import { createLog } from '../../../src/log.ts';
import { feedMinutes } from '../../../src/report/feed-minute.ts';
import { describeStatus } from '../../../src/report/status-document.ts';
import { signals, type CommitSignal, type RequestSignal } from '../../../src/signals.ts';
import {
  startSimulator,
  statusFaults,
  type Faults,
  type SimulatedChain,
  type Simulator,
} from '../../../simulator/index.ts';
import { emptyFolder } from '../../harness/child.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { startProgram } from '../../harness/process.ts';
import { runSync } from '../../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 230,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};
const feed = '10/user-operations';

const sums = `sum(pages)::int as pages, sum(inserted)::int as inserted, sum(changed)::int as changed,
  sum(quarantined)::int as quarantined, sum(credits)::int as credits`;

/** What the minutes of each lane come to, and what its walks do. */
async function bothSums({ pool }: TestDatabase) {
  const { rows: minutes } = await pool.query(
    `select feed, lane, ${sums} from etl.lane_minutes group by feed, lane order by feed, lane`,
  );
  const { rows: walks } = await pool.query(
    `select feed, lane, ${sums} from etl.walks group by feed, lane order by feed, lane`,
  );
  return { minutes, walks };
}

test('the minutes of a clean run come to what the ledger does', async () => {
  const simulator = await simulate();
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains: [chain] });
  const { minutes, walks } = await bothSums(database);
  expect(minutes).toEqual(walks);
  const { rows } = await database.pool.query(
    `select sum(requests)::int as requests, jsonb_agg(distinct failures) as failures
     from etl.lane_minutes`,
  );
  expect(rows).toEqual([{ requests: simulator.requests, failures: [{}] }]);
});

test('requests that fail are counted by class, and cost credits too', async () => {
  let seen = 0;
  const simulator = await simulate(() => {
    seen += 1;
    return seen % 5 === 0 ? statusFaults['503'] : null;
  });
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains: [chain] });
  const { rows } = await database.pool.query(
    `select sum(requests)::int as requests, sum((failures ->> 'unreachable')::int)::int as failed,
            sum(credits)::int as credits, (select sum(credits_spent)::int from etl.budget) as spent
     from etl.lane_minutes`,
  );
  const failed = Math.floor(simulator.requests / 5);
  const spent = simulator.requests * 20;
  expect(rows).toEqual([{ requests: simulator.requests, failed, credits: spent, spent }]);
  const { minutes, walks } = await bothSums(database);
  expect(minutes.map(({ pages, inserted }) => [pages, inserted])).toEqual(
    walks.map(({ pages, inserted }) => [pages, inserted]),
  );
});

test('processes that work side by side add to the same minutes', async () => {
  const database = await copied();
  const engines = [engine(database), engine(database)];
  // Each counts its own: what the other tells is told under another pool.
  for (const [index, { commit }] of engines.entries()) commit({ pages: index + 1, inserted: 50 });
  await Promise.all(engines.map(({ minutes }) => minutes.write()));
  expect(await lanesOf(database)).toEqual([
    { feed, lane: 'live', pages: 3, inserted: 100, changed: 0, failures: {} },
  ]);
});

test('what could not be written is counted to the next minute', async () => {
  const database = await copied();
  await database.pool.query('alter table etl.lane_minutes rename to away');
  const { minutes, commit, request } = engine(database);
  commit({ pages: 2, inserted: 7 });
  for (const outcome of ['throttled', 'throttled', 'ok'] as const) request(outcome);
  await expect(minutes.write()).rejects.toThrow('Failed query');
  await expect(minutes.write()).rejects.toThrow('Failed query');
  await database.pool.query('alter table etl.away rename to lane_minutes');
  commit({ pages: 1, changed: 3 });
  request('unreachable');
  await minutes.write();
  const failures = { throttled: 2, unreachable: 1 };
  expect(await lanesOf(database)).toEqual([
    { feed, lane: 'live', pages: 3, inserted: 7, changed: 3, failures },
  ]);
});

test('a write that fails is logged once, and the end still comes', async () => {
  const database = await copied();
  await database.pool.query('drop table etl.lane_minutes');
  const lines: string[] = [];
  const { db, commit } = engine(database);
  const freshness = async () => [];
  const log = createLog('info', (line) => void lines.push(line));
  const history = keepHistory({ db, freshness, now: () => performance.now(), log });
  commit({ pages: 1 });
  await history.close();
  expect(lines.filter((line) => line.includes('history.failure'))).toHaveLength(1);
});

test('how current each feed is, as status tells it, and once a minute', async () => {
  const database = await copied();
  const db = drizzle(database.pool);
  const { feeds } = await describeStatus(db, { pageSize: 50, standby: null });
  const told = await feedMinutes(db, new Date());
  const objectives = new Map(told.map(({ feed: name, objective_s }) => [name, objective_s]));
  const wanted = feeds.map(
    ({ feed: name, freshness }) => [name, freshness.objective?.seconds ?? null] as const,
  );
  expect(objectives).toEqual(new Map(wanted));
  for (const { feed: name, lag_s, looked_age_s } of told) {
    const { lag_s: lag, freshness } = feeds.find((one) => one.feed === name) ?? never();
    expect([near(lag_s, lag), near(looked_age_s, freshness.age_s)]).toEqual([true, true]);
  }
  await database.pool.query('truncate etl.feed_minutes');
  await noteFeedMinutes(db, told);
  await noteFeedMinutes(
    db,
    told.map((minute) => ({ ...minute, lag_s: -1 })),
  );
  const { rows } = await database.pool.query(
    `select count(*)::int as noted, count(distinct minute)::int as minutes,
            bool_and(minute = date_trunc('minute', minute, 'UTC')) as is_whole,
            coalesce(sum((lag_s = -1)::int), 0)::int / count(distinct minute)::int as other
     from etl.feed_minutes`,
  );
  // Two, where the second note falls into the next minute.
  expect([
    [{ noted: 3, minutes: 1, is_whole: true, other: 0 }],
    [{ noted: 6, minutes: 2, is_whole: true, other: 1 }],
  ]).toContainEqual(rows);
});

test('a day later a quarter of an hour is one row, and a month later none', async () => {
  const database = await copied();
  const { pool } = database;
  await pool.query('truncate etl.feed_minutes, etl.lane_minutes');
  // Each minute of 40 days up to now, the newest of them as recent as any.
  await pool.query(
    `insert into etl.feed_minutes
     select $1, minute, 60 + n % 15, n % 15, 300 + n % 15
     from generate_series(date_trunc('minute', now()) - interval '40 days', now(), '1 minute')
       with ordinality as each_of (minute, n)`,
    [feed],
  );
  await pool.query(
    `insert into etl.lane_minutes
     select $1, 'live', minute, 1, 2, 3, 4, 5, 6, case n % 2 when 0 then '{"throttled": 1}' else '{}' end::jsonb
     from generate_series(date_trunc('minute', now()) - interval '40 days', now(), '1 minute')
       with ordinality as each_of (minute, n)`,
    [feed],
  );
  const kept = "minute >= now() - interval '30 days'";
  const totals = `select sum(pages)::int as pages, sum(inserted)::int as inserted, sum(changed)::int as changed,
    sum(quarantined)::int as quarantined, sum(requests)::int as requests, sum(credits)::int as credits,
    sum((failures ->> 'throttled')::int)::int as throttled
    from etl.lane_minutes where ${kept.replace('now()', "date_bin('15 minutes', now(), 'epoch')")}`;
  const { rows: before } = await pool.query(totals);
  await Promise.all([thinHistory(drizzle(pool)), thinHistory(drizzle(pool))]);
  expect((await pool.query(totals)).rows).toEqual(before);
  await thinHistory(drizzle(pool));
  expect((await pool.query(totals)).rows).toEqual(before);
  for (const table of ['feed_minutes', 'lane_minutes']) {
    const { rows } = await pool.query(
      `select count(*)::int between 30 * 96 + 1440 and 31 * 96 + 1440 + 15 as is_thin,
              min(minute) > now() - interval '31 days 15 minutes' as is_young,
              count(*) filter (where minute > now() - interval '1 day')::int >= 1439 as has_minutes
       from etl.${table}`,
    );
    expect(rows).toEqual([{ is_thin: true, is_young: true, has_minutes: true }]);
  }
  const { rows: worst } = await pool.query(
    `select distinct lag_s, looked_age_s, objective_s from etl.feed_minutes
     where minute < now() - interval '2 days' and minute > now() - interval '30 days'`,
  );
  expect(worst).toEqual([{ lag_s: 74, looked_age_s: 14, objective_s: 300 }]);
});

test('a kill loses counts and no row', async () => {
  let cut = 4;
  const simulator = await simulate(() => {
    cut -= 1;
    return cut === 0 ? { wire: async () => program.kill('SIGKILL') } : null;
  });
  const database = await freshDatabase();
  const cwd = await emptyFolder();
  const environment = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  const args = ['sync', '--chain', '10', '--operation', 'user-operations', '--log-level', 'silent'];
  const program = startProgram(args, environment);
  expect(await program.ended(hangMs)).toEqual({ code: null, signal: 'SIGKILL' });
  const next = startProgram(args, environment);
  expect(await next.ended(hangMs)).toEqual({ code: 0, signal: null });
  const { rows } = await database.pool.query(
    `select (select sum(pages) from etl.lane_minutes)::int as counted,
            (select count(*) from etl.pages)::int as pages,
            (select count(*) from explorer.user_operations)::int as rows`,
  );
  const [{ counted, pages, rows: stored }] = rows;
  expect(stored).toBe(chain.userOperations);
  expect([counted > 0, counted <= pages]).toEqual([true, true]);
});

async function simulate(faults: Faults = () => null): Promise<Simulator> {
  const simulator = await startSimulator({ seed: 6, chains: [chain], faults });
  onTestFinished(() => simulator.close());
  return simulator;
}

/** A copy that is whole, without the counts of how it came to be. */
async function copied(): Promise<TestDatabase> {
  const simulator = await simulate();
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains: [chain] });
  await database.pool.query('truncate etl.lane_minutes');
  return database;
}

/** What an engine tells, and what is counted of it: engines differ by their pools. */
function engine(database: TestDatabase) {
  const pool = createPool({ url: database.url, max: 2, applicationName: 'explorer-etl test' });
  onTestFinished(() => pool.end());
  const db = drizzle(pool);
  const minutes = countMinutes({ db, freshness: async () => [], now: () => performance.now() });
  onTestFinished(() => minutes.stop());
  const commit = (came: Partial<CommitSignal>) =>
    signals.commit.tell(() => ({
      by: pool,
      feed,
      lane: 'live',
      table: 'explorer.user_operations',
      pages: 0,
      changing: 0,
      inserted: 0,
      changed: 0,
      quarantined: 0,
      ms: 1,
      ...came,
    }));
  const asked = { by: pool, chain_id: 10, operation: 'user-operations', lane: 'live' } as const;
  const request = (outcome: RequestSignal['outcome']) =>
    signals.request.tell(() => ({ ...asked, outcome, ms: 1, credits: 20 }));
  return { db, minutes, commit, request };
}

async function lanesOf({ pool }: TestDatabase) {
  const { rows } = await pool.query(
    `select feed, lane, pages::int, inserted::int, changed::int, failures
     from (
       select feed, lane, sum(pages) as pages, sum(inserted) as inserted, sum(changed) as changed,
              (
                select coalesce(jsonb_object_agg(class, times), '{}')
                from (
                  select class, sum(times::int) as times
                  from etl.lane_minutes, jsonb_each_text(failures) as each_of (class, times)
                  group by class
                ) as by_class
              ) as failures
       from etl.lane_minutes group by feed, lane
     ) as summed`,
  );
  return rows;
}

const near = (a: number | null, b: number | null) =>
  a === null || b === null ? a === b : Math.abs(a - b) < 60;

function never(): never {
  throw new Error('status tells of each feed');
}
