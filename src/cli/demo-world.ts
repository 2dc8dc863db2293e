import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import {
  demoChains,
  demoStart,
  longestList,
  startSimulator,
  type SimulatedChain,
} from '../../simulator/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { operationNames } from '../lists/registry.ts';
import { registerFeeds } from '../sync/feeds.ts';
import type { SyncTarget } from '../sync/once.ts';
import { configuredFeeds, configuredLanes } from '../sync/targets.ts';
import type { ChosenFeeds } from './options.ts';
import type { Context, GlobalOptions } from './context.ts';
import { settingsOf } from './database.ts';

/** The seed of the demo's world; any other works too. */
const demoSeed = 1;
const demoKey = 'demo-key';
const pageItems = 50;
/** The demo's explorer is local and has no rate limit. */
const requestsPerSecond = 10_000;
/** The daily credits of a free plan (docs/api-costs.md). */
const freeDayCredits = 100_000;
/** The newest batches whose blocks are copied: those of half a day would take a minute. */
const copiedBatches = 10;
/** A folder that has no configuration file on any machine. */
const noFolder = devNull;
/**
 * Marks the demo's data, although the port changes: real data in the same database is refused. The start day
 * follows, so that a later run shows the same world with more history.
 */
const originPrefix = `simulated explorer of demo, seed ${demoSeed}, from `;

export const stageFeed = `${longestList.chainId}/${longestList.operation}`;

/** The settings of the demo, with the user's database. */
export function demoSettings(context: Context, options: GlobalOptions & ChosenFeeds): Settings {
  const env = { ...databaseOf(context), EXPLORER_API_KEY: demoKey };
  // The user's configuration file describes other chains.
  const { config: _ignored, ...rest } = options;
  const nowMs = Date.now();
  const chain = options.chain ?? demoChains(demoStart(nowMs), nowMs).map(({ id }) => String(id));
  // Here all lists are free.
  const operation = options.operation ?? operationNames;
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain, operation });
  const explorer = { ...settings.explorer, requestsPerSecond, dailyCredits: freeDayCredits };
  return { ...settings, explorer };
}

/** Environment variables of the database, for settings read in another folder. */
function databaseOf({ env, cwd }: Context): NodeJS.ProcessEnv {
  const files = ['DATABASE_URL_FILE', 'DATABASE_URL_DIRECT_FILE'].flatMap((name) => {
    const path = env[name]?.trim() ?? '';
    // An empty value counts as unset.
    return path === '' ? [] : [[name, resolve(cwd, path)]];
  });
  const { DATABASE_URL, DATABASE_URL_DIRECT } = env;
  return { DATABASE_URL, DATABASE_URL_DIRECT, ...Object.fromEntries(files) };
}

export interface DemoWorld {
  readonly origin: string;
  readonly chains: readonly SimulatedChain[];
  readonly targets: readonly SyncTarget[];
  /** A minimum of the pages in the list whose worker is killed. */
  readonly stagePages: number;
}

/** Continues the world that an earlier demo copied into this database, and registers its feeds. */
export async function openDemoWorld(
  db: Database,
  { chains: configured }: Settings,
  nowMs: number,
): Promise<DemoWorld> {
  const startMs = (await storedStart(db)) ?? demoStart(nowMs);
  const origin = originPrefix + new Date(startMs).toISOString().slice(0, 10);
  const chains = demoChains(startMs, nowMs);
  /** Bounds for the newest batches of a chain. */
  const boundsOf = (chainId: number) => {
    const batches = chains.find(({ id }) => id === chainId)?.batches;
    if (batches === undefined) return {};
    const toBatch = batches.first + batches.count - 1;
    return { fromBatch: toBatch - copiedBatches + 1, toBatch };
  };
  const feeds = configured.flatMap((chain) => configuredFeeds([chain], boundsOf(chain.id)));
  await registerFeeds(db, feeds, 'flags', { origin, isSameData: false });
  const lanes = configured.flatMap((chain) => configuredLanes([chain], boundsOf(chain.id)));
  const items = chains.find(({ id }) => id === longestList.chainId)?.userOperations ?? 0;
  return {
    origin,
    chains,
    targets: lanes.map(({ lane, scope }) => ({ lane, scope })),
    stagePages: Math.floor(items / pageItems),
  };
}

async function storedStart(db: Database): Promise<number | null> {
  const { rows } = await db.execute<{ day: string }>(sql`
    select substr(origin, ${originPrefix.length + 1}::int) as day
    from etl.feeds
    where starts_with(origin, ${originPrefix})
    limit 1
  `);
  const startMs = Date.parse(rows[0]?.day ?? '');
  return Number.isNaN(startMs) ? null : startMs;
}

export type DemoExplorer = Awaited<ReturnType<typeof openDemoExplorer>>;

/**
 * Starts the demo's explorer. It answers `freely` requests to the worker's list; later ones wait for `release`, so
 * that the kill comes in the middle of that list on a machine of any speed.
 */
export async function openDemoExplorer({ chains }: DemoWorld, freely: number) {
  let stageRequests = 0;
  const released = Promise.withResolvers<void>();
  const simulator = await startSimulator({
    seed: demoSeed,
    chains,
    apiKey: demoKey,
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
    close() {
      released.resolve();
      return simulator.close();
    },
  };
}

/** Counts the pages read of the list in which the worker is killed. */
export async function readStagePages(db: Database): Promise<number> {
  const { rows } = await db.execute<{ pages: number }>(
    sql`select coalesce(sum(pages), 0)::int as pages from etl.coverage where feed = ${stageFeed}`,
  );
  return rows[0]?.pages ?? 0;
}

export async function openTargets(
  db: Database,
  targets: readonly SyncTarget[],
): Promise<SyncTarget[]> {
  const { rows } = await db.execute<{ lane: string }>(
    sql`select feed || ' ' || lane as lane from etl.newest_runs where state = 'open'`,
  );
  const open = new Set(rows.map(({ lane }) => lane));
  return targets.filter(({ lane }) => open.has(`${feedName(lane)} ${lane.lane}`));
}

/** An unfinished walk of an ended worker, and its committed pages. */
export interface OpenWalk {
  readonly id: number;
  readonly feed: string;
  readonly pages: number;
}

/** Every unfinished walk of these feeds; the one with the most pages first. */
export async function openWalks(db: Database, feeds: readonly string[]): Promise<OpenWalk[]> {
  const { rows } = await db.execute<{ walk: OpenWalk }>(sql`
    select json_build_object('id', id, 'feed', feed, 'pages', pages) as walk
    from etl.walks
    where state = 'running' and feed = any(${sql.param(feeds)}::text[])
    order by pages desc, id
  `);
  return rows.map(({ walk }) => walk);
}

/** How another worker continued a walk, by the ledger. Pages count from 1. */
export interface ResumedWalk {
  readonly feed: string;
  /** The last page committed before; 0: none. */
  readonly stopped_at: number;
  /** The first page committed after; null: none. */
  readonly resumed_at: number | null;
  /** Places where a page does not start at the end of the previous one. */
  readonly lost: number;
  /** Pages stored twice, or read for an abandoned walk. */
  readonly twice: number;
}

/** Compares the ledger with the pages committed before the walks changed workers. */
export async function readResumption(
  db: Database,
  before: readonly OpenWalk[],
): Promise<ResumedWalk[]> {
  const { rows } = await db.execute<{ walk: ResumedWalk }>(sql`
    with before as (
      select id, feed, pages
      from json_to_recordset(${JSON.stringify(before)}::json) as walk(id bigint, feed text, pages bigint)
    ), page as (
      select walk_id, sequence, cursor_in,
             sequence = lag(sequence, 1, -1::bigint) over walk + 1
               and (sequence = 0 or cursor_in is not distinct from lag(cursor_out) over walk) as follows
      from etl.pages
      where walk_id in (select id from before)
      window walk as (partition by walk_id order by sequence)
    )
    select json_build_object(
      'feed', before.feed,
      'stopped_at', before.pages,
      'resumed_at', min(sequence) filter (where sequence >= before.pages) + 1,
      'lost', count(*) filter (where not follows)
        + (before.pages > count(*) filter (where sequence < before.pages))::int,
      'twice', count(sequence) - count(distinct coalesce(cursor_in, 'null'))
        + case when state in ('failed', 'abandoned') then before.pages else 0 end
    ) as walk
    from before join etl.walks using (id) left join page on walk_id = id
    group by id, before.feed, before.pages, state
    order by before.pages desc, id
  `);
  return rows.map(({ walk }) => walk);
}

const pollMs = 20;

/** Waits until a condition holds, or the signal aborts. @throws after `mostMs`, with `what` */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean>,
  { mostMs, signal }: { readonly mostMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const hung = AbortSignal.timeout(mostMs);
  while (!signal.aborted && !(await holds())) {
    if (hung.aborted) throw new Error(`waited ${mostMs / 1000} seconds for ${what}`);
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
