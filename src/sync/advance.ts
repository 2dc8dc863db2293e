import { addAbortListener } from 'node:events';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import type { Why } from '../failure.ts';
import type { FeedLane, FeedState } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import type { RunRow } from '../lists/tables.ts';
import { linkAbort } from './abort.ts';
import { beginWork, failureOf, type FeedFailure, recover, type Recovered } from './failures.ts';
import { setFeedState } from './feeds.ts';
import type { FetchPage, PageReader, SliceBudget } from './request.ts';
import { closeRun, currentRun, hasOtherRun, lockFeed } from './runs.ts';
import { brokenOrder, endWalk, hasRunningWalk, takeWalk, walkFailures } from './take-walk.ts';
import { runWalk, type WalkOutcome, type WalkProgress } from './walk.ts';

/** What a slice leaves behind. */
export type AdvanceOutcome =
  | { readonly is: 'more' }
  | { readonly is: 'closed'; readonly run: RunRow; readonly failures: readonly Why[] }
  | { readonly is: 'stopped' }
  | { readonly is: 'fenced' }
  | { readonly is: 'idle' }
  /** Another process said that the feed is read from another explorer than this one requests. */
  | { readonly is: 'source-mismatch'; readonly run: RunRow }
  | {
      readonly is: 'failure';
      readonly run: RunRow;
      readonly feedFailure: FeedFailure;
      readonly progressed: boolean;
    };

export interface AdvanceDependencies {
  readonly db: Database;
  readonly fetchPage: FetchPage;
  /** How pages are read from now on; called for each walk, because a reload may change it. */
  readonly reading: () => Pick<PageReader, 'pageSize' | 'archive'>;
  readonly readAhead: number;
  readonly readAheadBytes: number;
  readonly gatherMs: number;
  readonly onCommit: (lane: FeedLane, progress: WalkProgress) => void;
  /** Called when a feed that was failing succeeds again. */
  readonly onRecovered?: (lane: FeedLane, recovered: Recovered) => void;
  /** Where pages are requested; it may change with the configuration. */
  readonly origin: () => string;
  /** The time of day, for what is due. */
  readonly clock: () => Date;
}

/** Why nothing is concluded from a walk, in one line. */
const unordered: Why = {
  failure: null,
  reason:
    'unordered: the service broke the order of the list; rows are kept, but neither coverage nor removal is concluded from this walk',
};

/** What the walks of one slice share. */
interface Slice {
  readonly run: RunRow;
  readonly held: Set<number>;
  /** The taking of a walk that is under way, if any; never rejects. */
  taking: Promise<unknown>;
  readonly budget: SliceBudget & { readonly spent: boolean };
  /** Whether the feed, or this run, was failing when the slice began. */
  readonly isFailing: boolean;
  /** The note that it is no longer; made with the first page, never rejects. */
  recovering: Promise<void> | null;
  feedFailure: FeedFailure | null;
  fenced: boolean;
  sourceMismatch: boolean;
  /** How many walks have come to rest in it. */
  ended: number;
  /** Of how many that was known when nothing was left to begin; another one may leave something. */
  exhaustedAt: number | null;
  pages: number;
  /** Of how many pages that was known when something to begin was last looked for. */
  checkedAt: number;
  readonly notifier: ReturnType<typeof openNotifier>;
}

/** How many more pages must be read before they may leave something to begin: looking costs as much as a page. */
const pagesUntilCheck = ({ checkedAt }: Slice) => Math.min(100, Math.max(5, checkedAt / 4));

/** Whether a commit may leave something to begin: a walk's first one shows where it has arrived. */
const isWorthChecking = (slice: Slice, { walk, pages }: WalkProgress) =>
  walk.pages === pages || slice.pages - slice.checkedAt >= pagesUntilCheck(slice);

/**
 * Works on a lane's open run until the slice's budget is spent, the run is done, or something
 * stops it. A walk that fails does not keep the run's other walks from running.
 *
 * @throws what Postgres throws, after the other walks of the slice have come to rest
 */
export async function advance(
  lane: FeedLane,
  budget: Slice['budget'],
  dependencies: AdvanceDependencies,
  signal: AbortSignal,
): Promise<AdvanceOutcome> {
  const { db } = dependencies;
  const run = await currentRun(db, lane);
  if (run === null) return { is: 'idle' };
  const slice: Slice = {
    run,
    isFailing: (await beginWork(db, run)) || run.failures_in_a_row > 0,
    recovering: null,
    budget,
    held: new Set(),
    taking: Promise.resolve(),
    feedFailure: null,
    fenced: false,
    sourceMismatch: false,
    ended: 0,
    exhaustedAt: null,
    pages: 0,
    checkedAt: 0,
    notifier: openNotifier(),
  };
  using walkers = linkAbort(signal);
  const width = await kindOf(lane.operation).walksAtOnce(db, lane);
  const results = await Promise.allSettled(
    Array.from({ length: width }, async () => {
      try {
        await walkOn(lane, slice, dependencies, walkers.signal);
      } catch (error) {
        walkers.abort(error);
        throw error;
      }
    }),
  );
  const broken = results.find((result) => result.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
  await slice.recovering;
  return conclude(lane, slice, dependencies, signal);
}

async function noteRecovered(
  lane: FeedLane,
  { run }: Slice,
  { db, onRecovered }: AdvanceDependencies,
): Promise<void> {
  // Where it can't be noted, the database is gone, and the next slice's first page notes it.
  const recovered = await recover(db, run).catch(() => null);
  if (recovered !== null) onRecovered?.(lane, recovered);
}

/** One of the slice's walkers: takes walk after walk until there is none, or the slice must end. */
async function walkOn(
  lane: FeedLane,
  slice: Slice,
  dependencies: AdvanceDependencies,
  signal: AbortSignal,
): Promise<void> {
  const operation = operations[lane.operation];
  const mayGoOn = () =>
    !signal.aborted &&
    slice.feedFailure === null &&
    !slice.fenced &&
    !slice.sourceMismatch &&
    !slice.budget.spent;
  let isWoken = false;
  while (mayGoOn()) {
    const walk = await takeInTurn(slice, dependencies, isWoken);
    if (walk === 'wait') {
      isWoken = await slice.notifier.wait(signal);
      if (!isWoken) return;
      continue;
    }
    if (walk === 'source-mismatch') {
      slice.sourceMismatch = true;
      return;
    }
    if (walk === null) return;
    using _work = slice.notifier.work();
    const outcome = await runWalk(
      walk,
      {
        ...dependencies,
        ...dependencies.reading(),
        operation,
        budget: slice.budget,
        onCommit: (progress) => {
          slice.pages += progress.pages;
          if (isWorthChecking(slice, progress)) slice.notifier.wake();
          if (slice.isFailing) slice.recovering ??= noteRecovered(lane, slice, dependencies);
          dependencies.onCommit(lane, progress);
        },
      },
      signal,
    );
    if (outcome.is === 'fenced') slice.fenced = true;
    if (outcome.is === 'failure') await handleFailure(dependencies.db, slice, outcome);
    // Ended, it is never taken again; a numbered list has thousands in a slice.
    if (outcome.is === 'ended') slice.held.delete(walk.id);
    // What it read may leave something to begin, which an earlier check could not see.
    slice.ended += 1;
  }
}

/** Whether nothing is left to begin, as of the last walk that came to rest. */
const isExhausted = ({ ended, exhaustedAt }: Slice) => exhaustedAt === ended;

/**
 * Takes a walk after the slice's other walkers have taken theirs: one that was begun a moment ago
 * and is not yet among `held` would be resumed by a second walker, and the first one fenced.
 */
function takeInTurn(
  slice: Slice,
  { db, clock, origin }: AdvanceDependencies,
  isWoken: boolean,
): ReturnType<typeof takeWalk> {
  const taken = slice.taking.then(async () => {
    // Where one found nothing to begin a moment ago, all others would.
    if (slice.notifier.isAwaited && !isWoken) return 'wait';
    if (isExhausted(slice)) return null;
    const { ended } = slice;
    slice.checkedAt = slice.pages;
    const walk = await takeWalk(db, slice.run, {
      held: [...slice.held],
      at: clock(),
      origin: origin(),
    });
    if (walk === null) slice.exhaustedAt = ended;
    else if (typeof walk === 'object') slice.held.add(walk.id);
    return walk;
  });
  slice.taking = taken.catch(() => undefined);
  return taken;
}

async function handleFailure(
  db: Database,
  slice: Slice,
  { walk, error }: Extract<WalkOutcome, { is: 'failure' }>,
): Promise<void> {
  const feedFailure = failureOf(error);
  if (feedFailure === null) throw error;
  // What stops the feed will stop the walk above it too; a synthetic cursor may be all that fails.
  const isAlone = !feedFailure.isOfKey;
  if (isAlone && (await endWalk(db, walk, 'abandoned', feedFailure, 'entering'))) return;
  if (feedFailure.walkOnly) {
    if (!(await endWalk(db, walk, 'abandoned', feedFailure))) slice.fenced = true;
  } else slice.feedFailure = feedFailure;
  // A list that is read whole may lack something above: the next walk reads it from its head.
  if (feedFailure.failure === 'truncated' && !kindOf(walk.operation).hasHistory) {
    await endWalk(db, walk, 'failed', feedFailure);
  }
}

async function conclude(
  lane: FeedLane,
  slice: Slice,
  dependencies: AdvanceDependencies,
  signal: AbortSignal,
): Promise<AdvanceOutcome> {
  const { db } = dependencies;
  const { run, feedFailure, fenced, sourceMismatch, pages } = slice;
  if (sourceMismatch) return { is: 'source-mismatch', run };
  if (fenced) return { is: 'fenced' };
  if (feedFailure !== null) return { is: 'failure', run, feedFailure, progressed: pages > 0 };
  if (signal.aborted) return { is: 'stopped' };
  if (!isExhausted(slice) || (await hasRunningWalk(db, run))) return { is: 'more' };
  const failures = await walkFailures(db, run);
  const [first] = failures;
  const why =
    first === undefined
      ? null
      : { ...first, reason: failures.map(({ reason }) => reason).join('; ') };
  // A run that found nothing to request has gone well too.
  if (why === null && slice.isFailing && slice.pages === 0) {
    await noteRecovered(lane, slice, dependencies);
  }
  // Together: a kill in between would leave the feed `running` until its next run.
  await transact(db, async (tx) => {
    // The feed before its run, in the order in which opening a run locks them. Of two runs that end at the same
    // moment, the second one sees that the first has.
    await lockFeed(tx, lane);
    if (why !== null || !(await hasOtherRun(tx, run, 'failing'))) {
      const state = why === null ? await stateAtRest(tx, run) : 'failed';
      await setFeedState(tx, lane, state, state === 'unordered' ? unordered : why);
    }
    await closeRun(tx, run, why === null ? 'finished' : 'failed', why);
  });
  return { is: 'closed', run, failures };
}

/** What a feed is after a run that failed nowhere: its other lane may still be at work. */
async function stateAtRest(tx: Transaction, run: RunRow): Promise<FeedState> {
  if (await brokenOrder(tx, run)) return 'unordered';
  return (await hasOtherRun(tx, run, 'open')) ? 'running' : 'idle';
}

/** Wakes the walkers of one slice when something was read that may leave a walk to begin. */
function openNotifier() {
  const waiting = new Set<PromiseWithResolvers<boolean>>();
  let working = 0;
  const wake = (all: boolean) => {
    for (const waiter of waiting) {
      waiting.delete(waiter);
      waiter.resolve(true);
      if (!all) return;
    }
  };
  return {
    /** Whether a walker waits for changes. */
    get isAwaited() {
      return waiting.size > 0;
    },
    /** Notes that a walk is worked on, until it is disposed of; who waits may find another one to begin. */
    work(): Disposable {
      working += 1;
      wake(false);
      return {
        [Symbol.dispose]() {
          working -= 1;
          wake(working === 0);
        },
      };
    },
    /** Wakes one of those that wait; it wakes the next if it found something to do. */
    wake: () => wake(false),
    /** @returns false if no walker is at work that could bring changes, or the signal aborts */
    async wait(signal: AbortSignal) {
      if (working === 0 || signal.aborted) return false;
      const waiter = Promise.withResolvers<boolean>();
      waiting.add(waiter);
      using _listening = addAbortListener(signal, () => waiter.resolve(false));
      return await waiter.promise.finally(() => waiting.delete(waiter));
    },
  };
}
