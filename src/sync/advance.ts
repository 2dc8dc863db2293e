import { transact, type Transaction } from '../db/transaction.ts';
import { type FailureClass, failures, type Why } from '../failure.ts';
import { type FeedLane, feedName } from '../lists/feed.ts';
import { hasHistory, kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import type { HeldWalk, RunRow } from '../lists/tables.ts';
import type { Log } from '../log.ts';
import {
  acceptKey,
  type Begun,
  beginWork,
  failureOfWalk,
  type FeedFailure,
  recover,
  type Recovered,
  setFailure,
} from './failures.ts';
import type { SliceBudget } from './page.ts';
import { closeRun, endOfRun, endWalk, lockFeed, takeWalk } from './runs.ts';
import {
  linkAbort,
  runWalk,
  type WalkDependencies,
  type WalkOutcome,
  type WalkProgress,
} from './walk.ts';

/** What a slice leaves behind. */
export type AdvanceOutcome =
  | { readonly is: 'more' | 'stopped' | 'idle' }
  | { readonly is: 'closed'; readonly run: RunRow; readonly failures: readonly Why[] }
  | { readonly is: 'fenced' }
  /** Another process recorded a different explorer for the feed. */
  | { readonly is: 'source-mismatch'; readonly run: RunRow }
  | {
      readonly is: 'failure';
      readonly run: RunRow;
      readonly feedFailure: FeedFailure;
      readonly progressed: boolean;
    };

export interface AdvanceDependencies extends Omit<
  WalkDependencies,
  'operation' | 'budget' | 'onCommit' | 'queues'
> {
  readonly onCommit?: (lane: FeedLane, progress: WalkProgress) => void;
  readonly log: Log;
  /** The environment variable that holds the API key of a chain. */
  readonly keyVariable: (chainId: number) => string;
  /** The chains that are read with a chain's key. */
  readonly chainsOfKey: (chainId: number) => readonly number[];
  /** Where pages are requested. */
  readonly origin: string;
  /** The time of day, for what is due. */
  readonly clock: () => Date;
}

/** Why not all is concluded from a walk, in one line. */
const unordered: Why = {
  failure: 'unordered',
  reason:
    'unordered: the service broke the order of the list; rows are kept, but nothing is concluded where it did',
};

/** What the walks of one slice share, beside its dependencies, budget and run, which says of which lane it is. */
const openState = () => ({
  held: new Set<number>(),
  queues: new Set() as WalkDependencies['queues'],
  /** What the first page notes; never rejects. */
  recovering: null as Promise<void> | null,
  /** Why no further walk begins; a mismatch outranks a fence, and both outrank a failure. */
  stop: null as Extract<AdvanceOutcome, { is: 'failure' | 'fenced' | 'source-mismatch' }> | null,
  /** What the last search for a walk found; null: something has changed since. */
  found: null as 'nothing' | 'wait' | null,
  /** Resolves when a commit may leave something to begin. */
  wakeUp: Promise.withResolvers<void>(),
  /** How many commits did, and how many walks have come to rest in it. */
  changes: 0,
  pages: 0,
  /** `pages` at the last search. */
  searchedAt: 0,
});

interface Slice extends AdvanceDependencies, Begun, ReturnType<typeof openState> {
  readonly budget: SliceBudget & { readonly spent: boolean };
}

/** Whether a commit may allow a new walk: a walk's first one shows where it arrived, and a search costs as much as a page. */
const isWorthSearching = ({ pages: read, searchedAt }: Slice, { walk, pages }: WalkProgress) =>
  walk.pages === pages || read - searchedAt >= Math.min(100, Math.max(5, searchedAt / 4));

/**
 * Works on a lane's open run until the slice's budget is spent, the run is done, or something
 * stops it. A walk that fails does not keep the run's other walks from running.
 * @throws what Postgres throws, after the other walks of the slice have come to rest
 */
export async function advance(
  lane: FeedLane,
  budget: Slice['budget'],
  dependencies: AdvanceDependencies,
  signal: AbortSignal,
): Promise<AdvanceOutcome> {
  const { db } = dependencies;
  const begun = await beginWork(db, lane);
  if (begun === null) return { is: 'idle' };
  const slice: Slice = { ...dependencies, ...begun, ...openState(), budget };
  const width = await kindOf(lane.operation).walksAtOnce(db, lane);
  await workOnWalks(slice, width, signal);
  await slice.recovering;
  return conclude(slice, signal);
}

/** Notes what the first page of a slice shows: its key works, and its feed recovers; a ranking does so at its end. */
async function noteSuccess(slice: Slice): Promise<void> {
  const { db, run, begun_at, chainsOfKey } = slice;
  const isOver = slice.is_failing && hasHistory(run.operation);
  const recovered = isOver ? await transact(db, (tx) => recover(tx, run)) : null;
  const accepted = await acceptKey(db, chainsOfKey(run.chain_id), begun_at);
  noteRecovered(slice, recovered ?? accepted);
}

function noteRecovered({ run, log, keyVariable }: Slice, recovered: Recovered | null): void {
  if (recovered === null) return;
  const { was, reason } = recovered;
  if (was !== null && failures[was].stops === 'key') {
    log.write('key.accepted', { variable: keyVariable(run.chain_id), was });
  } else log.write('feed.recovered', { feed: feedName(run), was: was ?? 'failing', reason });
}

/** Keeps up to `width` walks at work until none is left to take, or the slice must end. */
async function workOnWalks(slice: Slice, width: number, signal: AbortSignal): Promise<void> {
  using walks = linkAbort(signal);
  const working = new Set<Promise<void>>();
  const begin = (walk: HeldWalk) => {
    const work = workOn(walk, slice, walks.signal).then(
      () => void working.delete(work),
      (error: unknown) => {
        walks.abort(error);
        throw error;
      },
    );
    // It may fail while the next one is taken; it is awaited below.
    work.catch(() => undefined);
    working.add(work);
  };
  try {
    for (;;) {
      while (working.size < width && maySearch(slice, walks.signal)) {
        const walk = await findWalk(slice);
        if (walk !== null) begin(walk);
      }
      if (working.size === 0) return;
      slice.wakeUp = Promise.withResolvers();
      await Promise.race([slice.wakeUp.promise, ...working]);
    }
  } catch (error) {
    walks.abort(error);
    throw error;
  } finally {
    await Promise.allSettled(working);
  }
}

const maySearch = (slice: Slice, signal: AbortSignal) =>
  slice.found === null && !signal.aborted && slice.stop === null && !slice.budget.spent;

/** The next walk; null: there is none, at least for now. */
async function findWalk(slice: Slice): Promise<HeldWalk | null> {
  const { db, run, held, clock, origin, changes } = slice;
  slice.searchedAt = slice.pages;
  const walk = await takeWalk(db, run, { held: [...held], at: clock(), origin });
  if (typeof walk === 'object' && walk !== null) {
    held.add(walk.id);
    return walk;
  }
  if (walk === 'source-mismatch') slice.stop = { is: walk, run };
  // What has come meanwhile may leave something to begin, which this search could not see.
  else slice.found = changes === slice.changes ? (walk ?? 'nothing') : null;
  return null;
}

async function workOn(walk: HeldWalk, slice: Slice, signal: AbortSignal): Promise<void> {
  const { run } = slice;
  const onCommit = (progress: WalkProgress) => {
    slice.onCommit?.(run, progress);
    slice.pages += progress.pages;
    if (isWorthSearching(slice, progress)) {
      slice.changes += 1;
      if (slice.found === 'wait') slice.found = null;
      slice.wakeUp.resolve();
    }
    // If the database is gone, the next slice's first page notes it.
    slice.recovering ??= noteSuccess(slice).catch(() => undefined);
  };
  const operation = operations[run.operation];
  const outcome = await runWalk(walk, { ...slice, operation, onCommit }, signal);
  if (outcome.is === 'fenced') fence(slice);
  if (outcome.is === 'failure') await handleFailure(slice, outcome);
  // Ended, it is never taken again; a numbered list has thousands in a slice.
  if (outcome.is === 'ended') slice.held.delete(walk.id);
  slice.changes += 1;
  slice.found = null;
}

function fence(slice: Slice): void {
  if (slice.stop?.is !== 'source-mismatch') slice.stop = { is: 'fenced' };
}

async function handleFailure(
  slice: Slice,
  { walk, error }: Extract<WalkOutcome, { is: 'failure' }>,
): Promise<void> {
  const { db, origin, run } = slice;
  const feedFailure = await failureOfWalk(db, walk, error, origin);
  if (feedFailure === null) throw error;
  // If only the synthetic cursor fails, the walk above reads on; another fault stops that walk too.
  const { stops } = failures[feedFailure.failure];
  if (stops !== 'key' && (await endWalk(db, walk, 'abandoned', feedFailure, 'entering'))) return;
  if (stops === 'walk') {
    if (!(await endWalk(db, walk, 'abandoned', feedFailure))) fence(slice);
  } else if (slice.stop === null || slice.stop.is === 'failure') {
    slice.stop = { is: 'failure', run, feedFailure, progressed: false };
  }
  // The list may lack something above: the next walk reads it from its head.
  if (isCutRanking(walk, feedFailure.failure)) await endWalk(db, walk, 'failed', feedFailure);
}

const isCutRanking = ({ operation }: FeedLane, failure: FailureClass) =>
  failure === 'truncated' && !hasHistory(operation);

async function conclude(slice: Slice, signal: AbortSignal): Promise<AdvanceOutcome> {
  const { db, run, stop } = slice;
  if (stop?.is === 'failure') {
    const isCut = isCutRanking(run, stop.feedFailure.failure);
    return { ...stop, progressed: slice.pages > 0 && !isCut };
  }
  if (stop !== null) return stop;
  if (signal.aborted) return { is: 'stopped' };
  if (slice.found !== 'nothing') return { is: 'more' };
  const closed = await transact(db, (tx) => closeIfEnded(tx, slice));
  if (closed === null) return { is: 'more' };
  noteRecovered(slice, closed.recovered);
  return { is: 'closed', run, failures: closed.failures };
}

/** Closes a run whose walks have ended, and notes what is wrong with its feed. Null: it goes on, or was closed meanwhile. */
async function closeIfEnded(tx: Transaction, slice: Slice) {
  const { run, is_failing, recovering } = slice;
  // The feed before its run, in the order in which opening a run locks them. Of two runs that end at the same
  // moment, the second one sees that the first has.
  await lockFeed(tx, run);
  const end = await endOfRun(tx, run);
  if (end === null) return null;
  const [first] = end.failures;
  const why = first && { ...first, reason: end.failures.map(({ reason }) => reason).join('; ') };
  // A run that found nothing to request has gone well too.
  const isNoted = recovering !== null && hasHistory(run.operation);
  const recovered = !why && is_failing && !isNoted ? await recover(tx, run) : null;
  if (why) await setFailure(tx, run, why);
  else if (!end.is_ordered && !end.others_failing) await setFailure(tx, run, unordered);
  await closeRun(tx, run, why ? 'failed' : 'finished', why ?? null);
  return { failures: end.failures, recovered };
}
