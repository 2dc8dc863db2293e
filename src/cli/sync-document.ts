import type { SyncDocument } from '../documents/sync.ts';
import { failures } from '../failure.ts';
import type { SyncResult } from '../jobs/sync.ts';
import type { FeedEstimate } from '../report/estimate.ts';
import { exitCodes, type ExitCode } from './context.ts';

type LaneDocument = SyncDocument['lanes'][number];

/** What a work that is over is told from. */
export interface SyncEnd {
  readonly command: SyncDocument['command'];
  readonly results: readonly SyncResult[];
  readonly isInterrupted: boolean;
  /** Whether the lists were named one by one: then one that is not served is a mistake. */
  readonly isNamed: boolean;
  readonly seconds: number;
  /** What the history of the chosen feeds still takes. */
  readonly left: readonly Pick<FeedEstimate, 'feed' | 'history'>[];
}

/** The document of `sync`, `backfill` and `repair`. Pure. */
export function documentOfSync(end: SyncEnd): SyncDocument {
  const { command, results, isInterrupted, seconds, left } = end;
  const place = (feed: string) => left.findIndex((one) => one.feed === feed);
  const lanes = [...Map.groupBy(results, ({ feed, lane }) => `${feed} ${lane.lane}`).values()]
    .map((ofLane) => laneDocument(ofLane, isInterrupted))
    .toSorted((one, other) => place(one.feed) - place(other.feed));
  const code = exitCodeOf(end);
  return {
    schema: 'explorer-etl/sync/1',
    exit: { code, reason: reasons[code] },
    command,
    lanes,
    totals: { ...total(lanes), seconds: Math.round(seconds * 10) / 10 },
    history: left.flatMap(({ feed, history: { requests } }) =>
      requests === 0 ? [] : [{ feed, requests }],
    ),
  };
}

const reasons = { 0: 'done', 1: 'failed', 2: 'wrong-use', 130: 'interrupted' } as const;

function exitCodeOf({ results, isInterrupted, isNamed }: SyncEnd): ExitCode {
  if (isInterrupted) return exitCodes.interrupted;
  const failed = results.some(
    ({ state, failure }) =>
      state !== 'finished' &&
      (isNamed || failure === null || failures[failure].exit !== exitCodes.done),
  );
  return failed ? exitCodes.failed : exitCodes.done;
}

/** A lane that was worked on several times is told of once: as it ended, or as it failed. */
function laneDocument(results: readonly SyncResult[], isInterrupted: boolean): LaneDocument {
  const told = results.find(({ state }) => state !== 'finished') ?? results.at(-1);
  if (told === undefined) throw new Error('no result of a lane');
  const { feed, lane, failure, reason } = told;
  return {
    feed,
    chain_id: lane.chain_id,
    operation: lane.operation,
    lane: lane.lane,
    state: stateOf(told, isInterrupted),
    failure,
    reason,
    ...total(results),
  };
}

/** A run that is open was left by a signal. One that a failure interrupted has failed here. */
function stateOf({ state, failure, reason }: SyncResult, isInterrupted: boolean) {
  if (state === 'open') return isInterrupted ? 'paused' : 'failed';
  if (state === 'finished' || state === 'superseded') return state;
  if (failure === 'unsupported') return failure;
  return isInterrupted && failure === null && reason === null ? 'paused' : 'failed';
}

type Sums = Omit<SyncDocument['totals'], 'seconds'>;

function total(parts: readonly Sums[]): Sums {
  const sum = (of: keyof Sums) => parts.reduce((all, part) => all + part[of], 0);
  return {
    rows_added: sum('rows_added'),
    rows_added_by_others: sum('rows_added_by_others'),
    rows_changed: sum('rows_changed'),
    pages: sum('pages'),
    requests: sum('requests'),
    credits: sum('credits'),
    quarantined: sum('quarantined'),
    drift: sum('drift'),
  };
}
