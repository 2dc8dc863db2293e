import { addAbortListener } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { processName } from '../db/presence.ts';
import { execute, type Database } from '../db/transaction.ts';
import { feedName, laneName } from '../lists/feed.ts';
import type { Target } from '../lists/list.ts';
import { runStates } from '../lists/tables.ts';
import { type Attempted, type PageCommitted, signals } from '../signals.ts';
import { dueScope } from './feeds.ts';
import { openLane } from './queue.ts';
import { leaveToStart, noteStopped, type OpenedRun } from './runs.ts';
import { startWorker, type WorkerOptions } from './worker.ts';
import { workersPresent } from './workers.ts';
import { z } from 'zod';
import { failureClasses, failures, passing } from '../failure.ts';

/** A target's end (`open`: interrupted) and this process's work; quarantine and schema drift are those of the whole run. */
export interface SyncResult extends Target, RunResult, LaneCounts {
  readonly feed: string;
}

/** What this process did in a lane; refused and repeated requests count too. */
const nothing = { rows_added: 0, rows_changed: 0, pages: 0, requests: 0, credits: 0 };
type LaneCounts = typeof nothing;

const pollIntervalMs = 200;

export type SyncOptions = Omit<WorkerOptions, 'works' | 'kind'>;

/** Brings lanes up to date once, beside other workers. @throws a fault of the database */
export async function syncOnce(
  targets: readonly Target[],
  options: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult[]> {
  const { db } = options;
  const mine = new Set(targets.map(({ lane }) => laneName(lane)));
  const opened = await openDue(targets, options);
  // A joined run counts only from here.
  const joined = [...opened].filter(([, { isJoined }]) => isJoined).map(([id]) => id);
  const before = await runResults(db, joined);
  const counter = countLanes(options.pool);
  const worker = startWorker({
    ...options,
    concurrency: Math.min(options.concurrency, mine.size),
    works: (lane) => mine.has(laneName(lane)),
    kind: 'once',
  });
  // At once, whatever the statement of the loop below waits for.
  using _stop = addAbortListener(signal, () => void worker.stop());
  try {
    await untilClosed(opened, options, signal);
    const old = [...opened.values()].filter(
      ({ isJoined, lane }) => isJoined && lane.lane === 'live',
    );
    // A live run that an earlier sync began misses what came since: a new run reads it.
    if (old.length > 0 && !signal.aborted) {
      const reopened = await openDue(old, options);
      await untilClosed(reopened, options, signal);
      for (const [id, target] of reopened) opened.set(id, target);
    }
  } finally {
    await worker.stop();
    counter.stop();
    // Also the runs that never got their turn.
    const lanes = [...opened.values()].map(({ lane }) => lane);
    if (signal.aborted) await noteStopped(db, lanes).catch(() => undefined);
  }
  const results = await runResults(db, [...opened.keys()]);
  // Only now: this process would take the slices of the start, and give up again.
  const givenUp = [...results].flatMap(([id, { state, failure }]) => {
    const isPassing = failure !== null && passing.has(failures[failure].nextTry);
    return (state === 'interrupted' && isPassing && opened.get(id)?.lane) || [];
  });
  if (givenUp.length > 0) await leaveToStart(db, givenUp);
  return [...results].flatMap(([id, result]) => {
    const target = opened.get(id);
    if (target === undefined) return [];
    const { lane, scope } = target;
    // Counts may fall meanwhile, when entries are dropped or become rows.
    const since = (what: 'quarantined' | 'drift') =>
      Math.max(0, result[what] - (before.get(id)?.[what] ?? 0));
    const noted = { quarantined: since('quarantined'), drift: since('drift') };
    const own = counter.take(laneName(lane));
    return [{ ...result, ...noted, ...own, lane, scope, feed: feedName(lane) }];
  });
}

/** Opens a run for each target with work, live first: what a live walk will read is no gap. */
async function openDue(
  targets: readonly Target[],
  { db, boss, clock }: SyncOptions,
): Promise<Map<number, Target & OpenedRun>> {
  const opened = new Map<number, Target & OpenedRun>();
  for (const target of targets) {
    const scope = await dueScope(db, target, 'sync', clock());
    const run = scope === null ? null : await openLane(db, boss, { lane: target.lane, scope });
    if (run !== null) opened.set(run.id, { ...target, ...run });
  }
  return opened;
}

/** As SQL: whether an open run waits after a failure, which `start` met: a command gives up on it. */
const isLeft = sql`(runs.state = 'open' and coalesce(due_at > clock_timestamp(), false)
  and (failures_in_a_row > 0 or runs.failure is not null))`;

/** Waits until no run is open, but for those that a failure keeps so. */
async function untilClosed(
  ids: ReadonlyMap<number, Target>,
  { db, broken, log, workerId }: SyncOptions,
  signal: AbortSignal,
): Promise<void> {
  let isReported = false;
  while (!signal.aborted) {
    broken.throwIfAborted();
    const open = await execute(db).values(() => z.string().nullable())`
      select case when present.id <> ${workerId} then feed || ' by ' || ${sql.raw(processName)} end
      from etl.runs left join etl.lanes using (feed, lane)
        left join (${workersPresent}) as present on present.id = worker
      where runs.id = any(${sql.param([...ids.keys()])}::bigint[]) and state = 'open'
        and paused_at is null and not ${isLeft}
      order by feed, lane
    `;
    if (open.length === 0) return;
    const others = open.filter((other) => other !== null);
    // With nothing left to read here, the command seems to hang.
    if (!isReported && others.length === open.length) {
      isReported = true;
      log.write('sync.beside', { detail: [...new Set(others)].join('; ') });
    }
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Counts by lane what the engine `by` publishes. */
function countLanes(by: object) {
  const lanes = new Map<string, LaneCounts>();
  const add = (key: string, more: Partial<LaneCounts>) => {
    const counts = lanes.get(key) ?? { ...nothing };
    for (const name of countNames) counts[name] += more[name] ?? 0;
    lanes.set(key, counts);
  };
  const onCommit = (commit: PageCommitted) => {
    if (commit.by !== by) return;
    const { feed, lane, inserted: rows_added, changed: rows_changed, pages } = commit;
    add(`${feed}/${lane}`, { rows_added, rows_changed, pages });
  };
  const onRequest = (request: Attempted) => {
    if (request.by !== by) return;
    const { chain_id, operation, lane, credits } = request;
    add(`${chain_id}/${operation}/${lane}`, { requests: credits > 0 ? 1 : 0, credits });
  };
  signals.on('commit', onCommit).on('request', onRequest);
  return {
    /** Counts of a lane, once: the first of its runs has all of them. */
    take(key: string): LaneCounts {
      const counts = lanes.get(key) ?? nothing;
      lanes.delete(key);
      return counts;
    },
    stop: () => void signals.off('commit', onCommit).off('request', onRequest),
  };
}

const countNames = Object.keys(nothing) as readonly (keyof LaneCounts)[];

/** A run's state, and what its pages show, whichever processes read them. */
const runResultShape = () =>
  z.object({
    state: z.enum(runStates),
    failure: z.enum(failureClasses).nullable(),
    reason: z.string().nullable(),
    /** Items in quarantine that its pages served last, including known ones served unchanged. */
    quarantined: z.number(),
    /** Ways in which its pages differ from the specification that no page had shown before. */
    drift: z.number(),
  });
type RunResult = Readonly<z.infer<ReturnType<typeof runResultShape>>>;

/** Runs by id. Few pages are named: only by schema drift and quarantined items. */
async function runResults(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RunResult>> {
  const rows = await execute(db).rows(() => z.object({ id: z.string(), result: runResultShape() }))`
    with noted as (
      select coalesce(last_page_id, page_id) as page_id, 1 as quarantined, 0 as drift
      from etl.quarantine
      union all
      select first_page_id, 0, 1 from etl.drift
    ), sums as (
      select run_id as id, sum(noted.quarantined) as quarantined, sum(noted.drift) as drift
      from noted
      join etl.pages on pages.id = noted.page_id
      join etl.walks on walks.id = walk_id
      where run_id = any(${sql.param(ids)}::bigint[])
      group by run_id
    )
    select id, json_build_object(
             'state', state,
             'failure', case when ${isLeft} then coalesce(runs.failure, feeds.failure) else runs.failure end,
             'reason', case when ${isLeft} then coalesce(runs.reason, feeds.reason) else runs.reason end,
             'quarantined', coalesce(quarantined, 0), 'drift', coalesce(drift, 0)
           ) as result
    from etl.runs join etl.feeds using (feed) left join etl.lanes using (feed, lane) left join sums using (id)
    where id = any(${sql.param(ids)}::bigint[])
    order by id
  `;
  return new Map(rows.map(({ id, result }) => [Number(id), result]));
}
