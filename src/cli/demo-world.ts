import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { demoChains, demoStart, longestList } from '../../simulator/demo.ts';
import { type SimulatedChain, startSimulator } from '../../simulator/index.ts';
import { loadSettings } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { execute, type Database, transact } from '../db/transaction.ts';
import { operationNames, operations } from '../lists/registry.ts';
import { count } from '../status/schema.ts';
import { configuredFeeds, registerFeeds } from '../sync/feeds.ts';
import type { Context } from './context.ts';
import { readSettings } from './database.ts';
import type { ChosenFeeds } from './options.ts';

/** The seed of the demo's world; any other works too. */
const demoSeed = 1;
const demoKey = 'demo-key';
const pageItems = 50;
const dayMs = 86_400_000;
/** The demo's explorer is local and has no rate limit. */
const requestsPerSecond = 10_000;
/** The daily credits of a free plan (docs/api-costs.md). */
const freeDayCredits = 100_000;
/** The newest batches whose blocks are copied: those of half a day would take a minute. */
const copiedBatches = 10;
/**
 * Marks the demo's data, although the port changes: real data in the same database is refused. The start day
 * follows, so that a later run shows the same world with more history.
 */
const originPrefix = `simulated explorer of demo, seed ${demoSeed}, from `;
const isOfDemo = sql`starts_with(origin, ${originPrefix})`;

export const stageFeed = `${longestList.chainId}/${longestList.operation}`;

/** The settings of the demo, with the user's database; the user's file describes other chains. */
export function demoSettings(context: Context, options: ChosenFeeds = {}): Settings {
  const given = Object.entries(context.env).filter(([name]) => name.startsWith('DATABASE_URL'));
  const nowMs = Date.now();
  const { explorer, ...settings } = loadSettings({
    env: { ...Object.fromEntries(given), EXPLORER_API_KEY: demoKey },
    cwd: context.cwd,
    configFile: null,
    databaseUrl: context.databaseUrl,
    chains: options.chain ?? demoChains(demoStart(nowMs), nowMs).map(({ id }) => String(id)),
    // Here all lists are free.
    operations: options.operation ?? operationNames,
  });
  return {
    ...settings,
    explorer: { ...explorer, requestsPerSecond, dailyCredits: freeDayCredits },
  };
}

/** The settings of the demo with `--demo`, else the user's. */
export const ownOrDemo = (context: Context, options: ChosenFeeds): Settings =>
  context.demo ? demoSettings(context, options) : readSettings(context, options);

/** Continues the world that an earlier demo copied into this database, and registers its feeds. */
export async function openDemoWorld(
  db: Database,
  { chains: configured }: Pick<Settings, 'chains'>,
  nowMs: number,
) {
  const day = (await demoOrigin(db))?.slice(originPrefix.length);
  const startMs = day === undefined ? demoStart(nowMs) : Date.parse(day);
  const origin = originPrefix + new Date(startMs).toISOString().slice(0, 10);
  const chains = demoChains(startMs, nowMs);
  // The chains have the same batches.
  const toBatch = Math.max(...chains.map(({ batches }) => batches.first + batches.count - 1));
  const feeds = configuredFeeds(configured, { fromBatch: toBatch - copiedBatches + 1, toBatch });
  await registerFeeds(db, feeds, 'flags', { origin, isSameData: false });
  const items = Math.max(...chains.map(({ userOperations }) => userOperations));
  /** `stagePages`: a minimum of the pages in the list whose worker is killed. */
  return { chains, stagePages: Math.floor(items / pageItems) };
}

/** The origin of a demo's data; null: the database has none. */
export const demoOrigin = (db: Database) =>
  execute(db).value(z.string)`select origin from etl.feeds where ${isOfDemo} limit 1`;

export type DemoExplorer = Awaited<ReturnType<typeof openDemoExplorer>>;

/**
 * Starts the demo's explorer. It answers `freely` requests to the worker's list; later ones wait for `release`, so
 * that the kill comes in the middle of that list on a machine of any speed. Until `isDayOver` it has the rankings of
 * the day before, so that growth is known from the start.
 */
export async function openDemoExplorer(
  db: Database,
  chains: readonly SimulatedChain[],
  freely: number,
) {
  let stageRequests = 0;
  let isOver = (await readRankings(db)).are_read;
  const released = Promise.withResolvers<void>();
  const simulator = await startSimulator({
    seed: demoSeed,
    chains,
    apiKey: demoKey,
    clock: () => (isOver ? 0 : -dayMs),
    hold({ chainId, operation }) {
      if (`${chainId}/${operation}` !== stageFeed) return null;
      stageRequests += 1;
      return stageRequests > freely ? released.promise : null;
    },
  });
  return {
    url: simulator.url,
    requests: () => simulator.requests,
    stageRequests: () => stageRequests,
    release: released.resolve,
    /** Whether the rankings of the day before are stored, or those of earlier demos. */
    async isDayOver(): Promise<boolean> {
      if (isOver) return true;
      const { are_read, are_open } = await readRankings(db);
      // A worker that joined an open run would read no ranking of the new day.
      if (!are_read || are_open) return false;
      await dateRankingsBack(db);
      isOver = true;
      return true;
    },
    [Symbol.asyncDispose]() {
      released.resolve();
      return simulator.close();
    },
  };
}

/** Counts the pages read of the list in which the worker is killed. */
export async function readStagePages(db: Database): Promise<number> {
  const pages = await execute(db).value(z.number)`
    select sum(pages)::int from etl.coverage where feed = ${stageFeed}
  `;
  return pages ?? 0;
}

const rankings = operationNames.flatMap((name) => {
  const list = operations[name];
  return 'ranking' in list ? [{ name, history: list.ranking.history }] : [];
});

/** As SQL: a ranking of the demo. */
const isRanking = sql`
  feeds.operation = any(${sql.param(rankings.map(({ name }) => name))}::text[]) and ${isOfDemo}`;

/** Whether every ranking of the demo was read whole; and whether a run is open, which the next worker would join. */
const readRankings = (db: Database) =>
  execute(db).one(() => z.object({ are_read: z.boolean(), are_open: z.boolean() }))`
    select coalesce(bool_and(exists (select from etl.rankings where rankings.feed = feeds.feed)), true) as are_read,
           coalesce(bool_or(exists (select from etl.runs where runs.feed = feeds.feed and state = 'open')), false)
             as are_open
    from etl.feeds
    where ${isRanking}
  `;

/** Dates rankings as the simulated explorer's clock did; all, or if the demo is killed none. */
const dateRankingsBack = (db: Database): Promise<void> =>
  transact(db, async (tx) => {
    for (const { name, history } of rankings) {
      await tx.execute(sql`
        update ${history} set observed_at = observed_at - interval '1 day'
        where chain_id in (select chain_id from etl.feeds where operation = ${name} and ${isOfDemo})
      `);
    }
  });

/** An unfinished walk of an ended worker, and its committed pages. */
const openWalkShape = () => z.object({ id: z.number(), pages: z.number() });
type OpenWalk = z.infer<ReturnType<typeof openWalkShape>>;

/** Every unfinished walk of the list in which the worker is killed; the one with the most pages first. */
export const openWalks = (db: Database) =>
  execute(db).rows(openWalkShape)`
    select id::int, pages::int from etl.walks
    where state = 'running' and feed = ${stageFeed}
    order by pages desc, id
  `;

/** The kill, and how the walks of the watched list continued. Pages count from 1. */
export const killSchema = z.strictObject({
  pid: z.int(),
  feed: z.string(),
  /** The last page committed before the kill; 0: none; null: no walk was active. */
  killed_at_page: count.nullable(),
  /** The first page committed after the kill; null: none. */
  resumed_at_page: count.nullable(),
  /** Places where a page does not follow the previous one. */
  pages_lost: count,
  /** Pages stored more than once. */
  pages_stored_twice: count,
});
export type Kill = z.infer<typeof killSchema>;

/** Whether the next worker resumed exactly at the last page of the killed one. */
export const isKillClean = (kill: Kill): boolean =>
  kill.killed_at_page !== null &&
  kill.resumed_at_page === kill.killed_at_page + 1 &&
  kill.pages_lost === 0 &&
  kill.pages_stored_twice === 0;

/**
 * Compares the ledger with the pages committed before the walks changed workers: the longest resumed walk, and the
 * faults of all.
 */
export async function readResumption(
  db: Database,
  before: readonly OpenWalk[],
): Promise<Omit<Kill, 'pid'>> {
  const resumption = await execute(db).row(() => killSchema.omit({ pid: true }))`
    with before as (
      select id, pages from json_to_recordset(${JSON.stringify(before)}::json) as walk(id bigint, pages bigint)
    ), page as (
      select walk_id, sequence, cursor_in,
             sequence = lag(sequence, 1, -1::bigint) over walk + 1
               and (sequence = 0 or cursor_in is not distinct from lag(cursor_out) over walk) as follows
      from etl.pages
      where walk_id in (select id from before)
      window walk as (partition by walk_id order by sequence)
    ), resumed as (
      select before.pages,
             min(sequence) filter (where sequence >= before.pages) + 1 as page,
             count(*) filter (where not follows)
               + (before.pages > count(*) filter (where sequence < before.pages))::int as lost,
             -- Pages stored twice, or read for an abandoned walk.
             count(sequence) - count(distinct coalesce(cursor_in, 'null'))
               + case when state in ('failed', 'abandoned') then before.pages else 0 end as twice
      from before join etl.walks using (id) left join page on walk_id = id
      group by id, before.pages, state
    )
    select ${stageFeed}::text as feed, pages::int as killed_at_page, page::int as resumed_at_page,
           (sum(lost) over ())::int as pages_lost, (sum(twice) over ())::int as pages_stored_twice
    from resumed
    order by page is null, pages desc
    limit 1
  `;
  const none = { feed: stageFeed, killed_at_page: null, resumed_at_page: null };
  return resumption ?? { ...none, pages_lost: 0, pages_stored_twice: 0 };
}
