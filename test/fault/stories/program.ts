import { sql } from 'drizzle-orm';
import { failures, passing } from '../../../src/failure.ts';
import type { Pool } from 'pg';
import type { Engine } from '../../../src/app.ts';
import { type FeedLane, ofFeed } from '../../../src/lists/feed.ts';
import type { Occasion, Target } from '../../../src/lists/list.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';
import { dropQuarantined } from '../../../src/quarantine/quarantine.ts';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { advance, type AdvanceOutcome } from '../../../src/sync/advance.ts';
import type { QueueBounds } from '../../../src/sync/page-queue.ts';
import { setFailure } from '../../../src/sync/failures.ts';
import { configuredLanes, dueScope } from '../../../src/sync/feeds.ts';
import { closeRun } from '../../../src/sync/runs.ts';
import { openComposed } from '../../harness/engines.ts';
import { isNewest } from '../../harness/kept.ts';
import { isOfBlocks, plainChain, settingsFor, type SyncRun } from '../../harness/sync.ts';
import { pageSize } from './lie.ts';
import type { Chance } from './world.ts';
import { openRun } from '../../harness/runs.ts';

export const chainId = plainChain.id;

/** Where a process ends while it works on a lane, and how. */
export interface Death {
  readonly afterPages: number;
  /** `kill`: between two pages, nothing is tidied; `stop`: Ctrl-C while a page is on its way. */
  readonly how: 'kill' | 'stop';
}

/** What a round asks of the program. */
export type Task = Occasion | 'again' | 'repair';

/** How a process works on a lane: a slice reads one walk alone, so many of its pages at most. */
export interface Pace {
  readonly pagesASlice: number;
  /** Which pages share a transaction. */
  readonly waiting: QueueBounds;
}

/** Once a page is taken no other walk begins beside this one. */
function budgetOfOneWalk(pages: number) {
  let left = pages;
  return {
    get spent() {
      return left < pages;
    },
    takePage() {
      left -= 1;
      return left >= 0;
    },
  };
}

/** How far below the covered top each poll goes. */
export const overlapMs = 60_000;

/** Walks that a lane's run may take before it counts as one that never ends. */
const mostSlices = 60;
/** How often a lane tries again in place after a failure, as a schedule would later. */
const tries = 2;

/**
 * The program itself, composed as it composes itself, driven step by step and by a given clock; on a migrated database that
 * is emptied first.
 */
export async function openCopier(
  { databaseUrl, pool }: { readonly databaseUrl: string; readonly pool: Pool },
  wanted: Pick<SyncRun, 'url' | 'listSince' | 'archive'> & {
    readonly operations: readonly OperationName[];
    /** How many walks of a feed are read at once; with one, a seed's requests come in the same order. */
    readonly parallel?: number;
    /** Where walks beside the first of a list enter it: the blocks, none for one walk. */
    readonly entries?: () => readonly number[];
  },
  pace: Pace | null = null,
) {
  await empty(pool);
  const chains = [plainChain];
  const { entries = () => [], parallel = 1 } = wanted;
  const own = { chains, pageSize, overlapMs, resweep: [], parallel };
  const settings = settingsFor({ ...wanted, ...own });
  const timeouts = { recheckMs: 0 };
  const engine = await openComposed({ url: databaseUrl, pool }, settings, { timeouts });
  const lanes: Target[] = configuredLanes(settings.chains);
  const program = { onRequest: (): void => undefined };
  return {
    pool,
    db: engine.db,
    operations: wanted.operations,
    /** Notes a request, so that the program can die while one is under way. */
    noteRequest: () => program.onRequest(),
    verify: () => verifyFeeds(engine.db),
    async dropQuarantine() {
      await dropQuarantined(engine.db, { chains: [], operations: [], ids: [], reason: null });
    },
    /** Does what a command does, or a schedule, unless it dies on the way. */
    async work(task: Task, at: Date, deaths: (lane: string) => Death | null) {
      for (const round of await targetsOf(engine, lanes, task)) {
        for (const target of round) {
          const occasion = task === 'schedule' || task === 'start' ? task : 'sync';
          const scope = await dueScope(engine.db, target, occasion, at);
          if (scope === null) continue;
          await openRun(engine.db, target.lane, scope);
          const death = deaths(`${target.lane.operation}/${target.lane.lane}`);
          const waiting = pace?.waiting ?? engine.waiting;
          const dependencies = { ...engine, waiting, clock: () => at };
          const heights = target.lane.lane === 'backfill' ? entries() : [];
          if (heights.length > 0) {
            await advance(
              target.lane,
              budgetOfOneWalk(1),
              dependencies,
              new AbortController().signal,
            );
            await enterBeside(pool, target.lane, heights);
          }
          await runLane(target, dependencies, { death, pace }, program);
        }
      }
    },
    close: () => engine.close(),
  };
}

export type Copier = Awaited<ReturnType<typeof openCopier>>;

/** All rows of a database go, its schema stays. */
async function empty(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ tables: string }>(`
    select string_agg(format('%I.%I', table_schema, table_name), ', ') as tables
    from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema in ('explorer', 'etl')
      and table_name not like '%migrations%'`);
  await pool.query(`truncate ${rows[0]?.tables ?? ''} restart identity cascade`);
}

async function targetsOf(
  { db }: Engine,
  lanes: readonly Target[],
  task: Task,
): Promise<readonly (readonly Target[])[]> {
  if (task === 'repair') return repairsOf(db, await verifyFeeds(db), lanes);
  if (task !== 'again') return [lanes];
  const history = lanes.filter(
    ({ lane }) => isOfBlocks(lane.operation) && lane.lane === 'backfill',
  );
  return [history.map(({ lane, scope }) => ({ lane, scope: { ...scope, again: true } }))];
}

type Dependencies = Parameters<typeof advance>[2];

/** Has walks begin beside the one under way, as the program does itself in a list of hundreds of pages. */
async function enterBeside(pool: Pool, { operation }: FeedLane, heights: readonly number[]) {
  const { order } = operations[operation];
  if (!isNewest(operation) || order === null) return;
  for (const height of heights) {
    const entry = order.topOf(height);
    await pool.query(
      `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, floor, cursor, from_head, started_at)
       select chain_id, operation, lane, run_id, kind,
              scope || jsonb_build_object('entry', $2::jsonb, 'remainder_of', id), floor, $3, false, started_at
       from etl.walks
       where operation = $1 and lane = 'backfill' and state = 'running'
         and bottom > $4 and coalesce(floor, 0) < $4 and not scope ?| array['again', 'entry', 'until']
       order by id
       limit 1
       on conflict do nothing`,
      [operation, entry, order.cursorAt(entry), height],
    );
  }
}

/** Works on a lane's open run to its end, or to the death of its process. */
async function runLane(
  { lane }: Target,
  dependencies: Dependencies,
  { death, pace }: { readonly death: Death | null; readonly pace: Pace | null },
  program: { onRequest: () => void },
): Promise<void> {
  const stop = new AbortController();
  let left = death?.afterPages ?? Infinity;
  program.onRequest = () => {
    if (death?.how !== 'stop') return;
    left -= 1;
    if (left <= 0) stop.abort();
  };
  const budget = {
    get spent() {
      return death?.how === 'kill' && left <= 0;
    },
    takePage() {
      if (death?.how !== 'kill') return true;
      left -= 1;
      return left >= 0;
    },
  };
  let failed = 0;
  const most = pace === null ? mostSlices : mostSlices * pageSize;
  for (let slices = 0; slices < most && !budget.spent; slices += 1) {
    const own = pace === null ? budget : budgetOfOneWalk(pace.pagesASlice);
    const outcome = await advance(lane, own, dependencies, stop.signal);
    if (outcome.is === 'stopped') {
      await dependencies.db.execute(
        sql`update etl.feeds set failure = null, reason = null where ${ofFeed(lane)}`,
      );
    }
    if (outcome.is === 'failure') {
      failed += 1;
      if (await givesUp(outcome, dependencies, lane, failed)) break;
      continue;
    }
    if (outcome.is !== 'more') break;
    if (slices === most - 1) throw new Error(`${lane.operation}/${lane.lane} never ends`);
  }
}

/** As a slice rests: the feed says why, and a `sync` gives up. */
async function givesUp(
  { run, feedFailure }: Extract<AdvanceOutcome, { is: 'failure' }>,
  { db }: Dependencies,
  lane: Target['lane'],
  failed: number,
): Promise<boolean> {
  const { feed: state, nextTry } = failures[feedFailure.failure];
  if (state !== null) await setFailure(db, lane, feedFailure);
  if (passing.has(nextTry) && failed <= tries) return false;
  await closeRun(db, run, 'interrupted', feedFailure);
  return true;
}

/** A death in some of the lanes, early enough that it comes. */
export function deathsBy(chance: Chance, percent: number): (lane: string) => Death | null {
  return () =>
    chance.percent(percent)
      ? { afterPages: chance.whole(1, 9), how: chance.pick(['kill', 'stop']) }
      : null;
}
