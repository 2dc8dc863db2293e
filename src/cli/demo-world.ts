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
import { registerFeeds } from '../sync/feeds.ts';
import type { SyncTarget } from '../sync/once.ts';
import { configuredFeeds, configuredLanes } from '../sync/targets.ts';
import type { ChosenFeeds } from './chosen-feeds.ts';
import type { Context, GlobalOptions } from './context.ts';
import { settingsOf } from './setup.ts';

/** What the demo's world is made from; any seed will do. */
const demoSeed = 1;
/** The key that its explorer accepts. */
const demoKey = 'demo-key';
/** Items of a page. */
const pageItems = 50;
/** The demo's explorer is on this machine and has no rate to respect. */
const requestsPerSecond = 10_000;
/** What a free plan has for a day, in credits (docs/api-costs.md). */
const freeDayCredits = 100_000;
/** How many of the newest batches have their blocks copied: those of half a day would take a minute. */
const copiedBatches = 10;
/** A folder that holds no configuration file, on any machine. */
const noFolder = devNull;
/**
 * The explorer's port differs each time, its data does not: real data in the same database is refused. The day on
 * which the world begins follows, so that a later run shows the same world, only longer.
 */
const originPrefix = `simulated explorer of demo, seed ${demoSeed}, from `;

/** The list in the middle of which the worker is killed. */
export const stageFeed = `${longestList.chainId}/${longestList.operation}`;

/** The settings of the demo: of the user's, only the database. */
export function demoSettings(context: Context, options: GlobalOptions & ChosenFeeds): Settings {
  const env = { ...databaseOf(context), EXPLORER_API_KEY: demoKey };
  // A configuration file is about other chains.
  const { config: _ignored, ...rest } = options;
  const nowMs = Date.now();
  const chain = options.chain ?? demoChains(demoStart(nowMs), nowMs).map(({ id }) => String(id));
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain });
  const explorer = { ...settings.explorer, requestsPerSecond, dailyCredits: freeDayCredits };
  return { ...settings, explorer };
}

/** What of the environment names the database, for settings that are read in another folder. */
function databaseOf({ env, cwd }: Context): NodeJS.ProcessEnv {
  const files = ['DATABASE_URL_FILE', 'DATABASE_URL_DIRECT_FILE'].flatMap((name) => {
    const path = env[name]?.trim() ?? '';
    // Empty is as good as unset, and no folder.
    return path === '' ? [] : [[name, resolve(cwd, path)]];
  });
  const { DATABASE_URL, DATABASE_URL_DIRECT } = env;
  return { DATABASE_URL, DATABASE_URL_DIRECT, ...Object.fromEntries(files) };
}

/** The chains of a demo as they are now, and what it reads of them. */
export interface DemoWorld {
  readonly origin: string;
  readonly chains: readonly SimulatedChain[];
  readonly targets: readonly SyncTarget[];
  /** How many pages the list has in which the worker is killed, at least. */
  readonly stagePages: number;
}

/** Goes on with the world that an earlier demo copied into this database, and registers its feeds. */
export async function openDemoWorld(
  db: Database,
  { chains: configured }: Settings,
  nowMs: number,
): Promise<DemoWorld> {
  const startMs = (await storedStart(db)) ?? demoStart(nowMs);
  const origin = originPrefix + new Date(startMs).toISOString().slice(0, 10);
  const chains = demoChains(startMs, nowMs);
  /** The newest batches of a chain, as flags would bound them. */
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
 * Starts the explorer of the demo.
 *
 * @param freely so many requests to the list in which the worker is killed are answered; others wait until
 *   `release`. So the worker is in the middle of that list when it is killed, on a machine of any speed
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

/** How many pages of the list were read in which the worker is killed. */
export async function readStagePages(db: Database): Promise<number> {
  const { rows } = await db.execute<{ pages: number }>(
    sql`select coalesce(sum(pages), 0)::int as pages from etl.coverage where feed = ${stageFeed}`,
  );
  return rows[0]?.pages ?? 0;
}

/** Those of the targets whose run is open: the others are finished. */
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

/** A walk that was under way when its worker ended, and how many pages of it were committed by then. */
export interface OpenWalk {
  readonly id: number;
  readonly feed: string;
  readonly pages: number;
}

/** Every walk of these feeds that is under way, as it is committed; the one with the most pages first. */
export async function openWalks(db: Database, feeds: readonly string[]): Promise<OpenWalk[]> {
  const { rows } = await db.execute<{ walk: OpenWalk }>(sql`
    select json_build_object('id', id, 'feed', feed, 'pages', pages) as walk
    from etl.walks
    where state = 'running' and feed = any(${sql.param(feeds)}::text[])
    order by pages desc, id
  `);
  return rows.map(({ walk }) => walk);
}

/** How a walk went on under another worker, by the ledger. Pages are counted from 1. */
export interface ResumedWalk {
  readonly feed: string;
  /** The last page that was committed before; 0: none. */
  readonly stopped_at: number;
  /** The first one that was committed after; null: the walk has no other. */
  readonly resumed_at: number | null;
  /** Places where a page does not go on where the one before it ended. */
  readonly lost: number;
  /** Pages that are there once more, or were read for a walk that was given up. */
  readonly twice: number;
}

/** Holds the ledger against what was committed when the walks changed hands. */
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

/**
 * Waits until a condition holds, or the signal aborts.
 *
 * @param mostMs only a hang takes longer
 * @throws after that, naming what it waited for
 */
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
