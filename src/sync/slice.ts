import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { isConnectionLost } from '../db/failure.ts';
import { execute, type Queryable } from '../db/transaction.ts';
import type { NewDrift } from '../drift/drift.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { failures, passing } from '../failure.ts';
import { type FeedLane, feedName, laneOfRow, ofLane, feedLaneShape } from '../lists/feed.ts';
import type { RunRow } from '../lists/tables.ts';
import type { Log } from '../log.ts';
import { advance, type AdvanceDependencies, type AdvanceOutcome } from './advance.ts';
import { backOffMs, faultOf, type FeedFailure, pollLater, setFailure } from './failures.ts';
import type { SliceBudget } from './page.ts';
import { chainSlice } from './queue.ts';
import type { WalkProgress } from './walk.ts';
import { isLost, type Worker } from './workers.ts';
import { closeRun, countFailure, currentRun, noteReason } from './runs.ts';
import { z } from 'zod';

/** Part of the wait that is added at random, so that not all feeds are polled at once that the explorer does not serve. */
const laterJitter = 0.05;
/** How long a lane waits whose feed this process may not read, in ms. */
const notOursMs = 2_000;

export interface SliceDependencies extends AdvanceDependencies {
  readonly boss: PgBoss;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly random: () => number;
  /** Whether this process works on a lane. */
  readonly works: (lane: FeedLane) => boolean;
  /** `once` gives up on a failure and says so; `start` comes back to it for ever. */
  readonly kind: Worker['kind'];
}

/**
 * One slice of a lane: works within the budget, then ends the job and queues the next one. Once `stopping`, it makes no new
 * request; after `abort` it awaits no answer either. If it is killed, its job is taken over.
 */
export async function runSlice(
  job: JobWithMetadata<FeedLane>,
  dependencies: SliceDependencies,
  { stopping, abort }: Readonly<Record<'stopping' | 'abort', AbortSignal>>,
): Promise<void> {
  const { log, now } = dependencies;
  const lane = job.data;
  const started = now();
  const budget = openSliceBudget(now, stopping, () => isToGiveWay(dependencies, lane));
  const drift: NewDrift[] = [];
  const onCommit = (of: FeedLane, progress: WalkProgress) => {
    drift.push(...progress.drift);
    dependencies.onCommit?.(of, progress);
  };
  let outcome: AdvanceOutcome | null = null;
  log.write('slice.started', nameOf(lane));
  try {
    outcome = await advanceSafely(lane, budget, { ...dependencies, onCommit }, abort);
  } finally {
    // Whatever ends the slice: what was committed as new is never new again.
    logDrift(log, lane, drift);
    log.write('slice.done', {
      ...nameOf(lane),
      ms: Math.round(now() - started),
      outcome: outcome?.is ?? 'connection-lost',
    });
  }
  const ended = { ...dependencies, job, lane };
  const isStopped = stopping.aborted && outcome.is === 'more';
  await chainSlice(ended, isStopped ? 'stopped' : await whenNext(ended, outcome));
  // Behind the queue, since it may fail.
  if (outcome.is === 'closed') await logTotals(ended, outcome.run);
}

/** Longest wait of a lane while a worker is free. */
const takenUpWithin = '4 seconds';

/** Whether another lane of this process has been due for a while and no worker was free, or this one was paused. */
export async function isToGiveWay(
  { db, works }: Pick<SliceDependencies, 'db' | 'works'>,
  lane: FeedLane,
): Promise<boolean> {
  const waiting = await execute(db).values(feedLaneShape)`
    select ${laneOfRow}
    from etl.lanes join etl.feeds using (feed)
    where case when ${ofLane(lane)} then paused_at is not null
      else paused_at is null and (
        due_at < clock_timestamp() - ${takenUpWithin}::interval and worker is null or ${isLost}
      ) end
  `;
  return waiting.some(works);
}

/** Whose event it is. */
const nameOf = (lane: FeedLane) => ({ feed: feedName(lane), lane: lane.lane });

/** Logs in one line how items differ in ways that the feed had not shown: how many, and the first one. */
function logDrift(log: Log, lane: FeedLane, drift: readonly NewDrift[]): void {
  const [first] = drift.toSorted((a, b) => a.page_id - b.page_id || (a.path < b.path ? -1 : 1));
  if (first === undefined) return;
  const { kind, path, detail, page_id: page } = first;
  log.write('feed.drift', { ...nameOf(lane), ways: drift.length, kind, path, detail, page });
}

/**
 * What Postgres refuses is an ordinary failure: the lane backs off. A defect of the program ends the run: the queue would
 * repeat it, and its paid requests, for ever. A lost connection is thrown, because nothing can record it.
 */
async function advanceSafely(
  lane: FeedLane,
  budget: ReturnType<typeof openSliceBudget>,
  dependencies: SliceDependencies,
  abort: AbortSignal,
): Promise<AdvanceOutcome> {
  const { log } = dependencies;
  try {
    return await advance(lane, budget, dependencies, abort);
  } catch (error) {
    const run = isConnectionLost(error) ? null : await currentRun(dependencies.db, lane);
    if (run === null) throw error;
    const { feedFailure, stack } = faultOf(error);
    const { reason } = feedFailure;
    if (stack !== null) log.write('feed.internal-error', { ...nameOf(lane), reason, stack });
    return { is: 'failure', run, feedFailure, progressed: false };
  }
}

/** A slice that has ended, and whose job is still there. */
interface Ended extends SliceDependencies {
  readonly job: JobWithMetadata<FeedLane>;
  readonly lane: FeedLane;
}

/** Notes how a slice ended. @returns when the next one is due, as `chainSlice` takes it */
async function whenNext(ended: Ended, outcome: AdvanceOutcome): Promise<number | 'stopped'> {
  const { db, log, lane, kind } = ended;
  switch (outcome.is) {
    case 'more':
    case 'fenced':
    case 'idle':
      return 0;
    case 'stopped':
      // The lane's run stays open: another worker goes on with it.
      return 'stopped';
    case 'failure':
      return backOff(ended, outcome);
    case 'source-mismatch':
      // The lane is for the processes that use the explorer of its feed.
      log.write('feed.source-mismatch', nameOf(lane));
      if (kind === 'once') await closeRun(db, outcome.run, 'interrupted', sourceMismatch);
      return notOursMs;
    case 'closed':
      for (const { failure, reason } of outcome.failures) {
        log.write('feed.failed', { ...nameOf(lane), failure, reason });
      }
      return 0;
  }
}

/** Logs in one line what an ended run brought. `sync` shows what came by itself. */
async function logTotals({ db, log, lane, kind }: Ended, run: RunRow): Promise<void> {
  if (kind === 'once') return;
  const totals = await runTotals(db, run);
  const { added, changed, quarantined, ...cost } = totals;
  if (added + changed + quarantined > 0) log.write('feed.updated', { ...nameOf(lane), ...totals });
  else log.write('feed.polled', { ...nameOf(lane), ...cost });
}

const sourceMismatch = {
  failure: null,
  reason:
    'another process reads this feed from another explorer since: use the same EXPLORER_BASE_URL',
};

/** Notes a failure where it belongs. @returns how long the lane waits, in ms */
async function backOff(
  ended: Ended,
  { run, feedFailure, progressed }: Extract<AdvanceOutcome, { is: 'failure' }>,
): Promise<number> {
  const { db, lane, random, kind } = ended;
  const { nextTry, feed: state } = failures[feedFailure.failure];
  if (state === null) await noteReason(db, run, feedFailure);
  else await setFailure(db, lane, feedFailure);
  logFailure(ended, feedFailure);
  if (nextTry === 'daily') await pollLater(db, lane, random() * laterJitter);
  if (kind === 'once' || !passing.has(nextTry)) {
    await closeRun(db, run, 'interrupted', feedFailure);
    return 0;
  }
  const isFirst = progressed || nextTry !== 'growing';
  const inARow = state === null ? 1 : await countFailure(db, run, isFirst, feedFailure.problem);
  return backOffMs(feedFailure, inARow, random);
}

/** What stops a key or a chain is logged once, not for each of its feeds. */
function logFailure(
  { lane, log, keyVariable }: Ended,
  { failure, problem, reason }: FeedFailure,
): void {
  const { log: event } = failures[failure];
  switch (event) {
    case 'feed.failure':
    case 'feed.failed':
      return log.write(event, { ...nameOf(lane), failure, reason });
    case 'key.waiting':
    case 'key.refused':
      return log.write(event, { variable: keyVariable(lane.chain_id), failure, problem });
    case 'chain.unknown':
      return log.write(event, { chain: lane.chain_id, problem });
    case 'feed.internal-error':
    case 'queue.failure':
    case 'database.away':
    case null:
      // It was logged where it happened.
      return undefined;
  }
}

/** How long a slice runs before it gives way to others, in ms: a few workers serve many lanes fairly. */
const sliceMs = 10_000;

/** How long a slice may run at most, in ms: then a worker that has nothing to do may get it. */
const longestMs = 60_000;

/**
 * What a slice may read: at least one page, unless the worker stops. After its time it gives way if another slice waits:
 * ending costs one round trip while its walks stop, 2.5 % of the time at 250 ms. `now` is monotonic, in ms.
 */
export function openSliceBudget(
  now: () => number,
  stopping: AbortSignal,
  givesWay: () => Promise<boolean>,
): SliceBudget & { readonly spent: boolean } {
  const started = now();
  let pages = 0;
  let dueMs = started + sliceMs;
  let hasToEnd = false;
  const look = async () => {
    // One look at a time.
    dueMs = Infinity;
    hasToEnd = now() - started >= longestMs || (await givesWay().catch(() => true));
    dueMs = now() + sliceMs;
  };
  const isSpent = () => stopping.aborted || (pages > 0 && hasToEnd);
  return {
    get spent() {
      return isSpent();
    },
    takePage() {
      // The answer is not awaited; until it is there the slice goes on.
      if (now() >= dueMs && !hasToEnd) void look();
      if (isSpent()) return false;
      pages += 1;
      return true;
    },
  };
}

/** What a run brought and cost, whichever workers and slices it was made of. Its walks are few. */
async function runTotals(db: Queryable, { id }: RunRow) {
  const totals = await execute(db).one(() =>
    z.object({
      added: z.number(),
      changed: z.number(),
      quarantined: z.number(),
      pages: z.number(),
      credits: z.number(),
      seconds: z.number(),
    }),
  )`
    select coalesce(sum(inserted), 0)::float8 as added, coalesce(sum(changed), 0)::float8 as changed,
           coalesce(sum(walks.quarantined), 0)::float8 as quarantined,
           coalesce(sum(pages), 0)::float8 as pages, coalesce(sum(credits), 0)::float8 as credits,
           round(greatest(extract(epoch from coalesce(closed_at, now()) - opened_at), 0), 1)::float8
             as seconds
    from etl.runs left join etl.walks on run_id = runs.id
    where runs.id = ${id}
    group by runs.id
  `;
  return { ...totals, requests: totals.credits / creditsPerRequest };
}
