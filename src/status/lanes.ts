import { counted, duration } from '../terminal/numbers.ts';
import type { RunsDocument } from './endpoints.ts';
import { failures, passing } from '../failure.ts';
import type { LaneWork, Workers } from '../sync/workers.ts';
import type { LaneRecord } from './facts.ts';
import type { FeedStatus, LaneStatus, StatusDocument } from './schema.ts';

type LaneState = LaneStatus['state'];

/** Whether a worker is seen. */
export const isAtWork = ({ start, once }: Workers): boolean => start + once > 0;

/** A lane without a page for this long is quiet, in seconds. No row shows an active request. */
const quietAfterSeconds = 15;

/** Stalled after this long, in seconds: a slow answer takes 2 minutes at most. */
const stallSeconds = 300;

/** A job this new after pages this recent is a lane between two slices; in seconds. */
const chainedSeconds = 1;
const recentSeconds = 15;

/** Seconds since a lane's last page, or since its worker opened it. */
const quietSeconds = (last_page_age_s: number | null, { age_s }: LaneWork): number =>
  Math.min(age_s, last_page_age_s ?? Infinity);

/** The fields of a lane's newest run that decide its state. */
type LaneRun = Pick<LaneRecord, 'last_page_age_s' | 'stopped_at'> &
  Pick<LaneRecord['shown'], 'run_state'>;

/** A lane's state, by its run and its job. Pure. */
export function laneState(
  { run_state, last_page_age_s, stopped_at }: LaneRun,
  job: LaneWork | null,
  workers: Workers,
): LaneState {
  if (run_state !== 'open') return 'idle';
  const isDeserted = !isAtWork(workers);
  const left = stopped_at === null ? 'no-worker' : 'paused';
  if (job === null) return left;
  const quiet = quietSeconds(last_page_age_s, job);
  if (job.is_held === true) return quiet < quietAfterSeconds ? 'running' : 'quiet';
  // The run was reopened after its stop, and that worker is gone: it did not stop by itself.
  if (job.is_held === false) return quiet < stallSeconds && !isDeserted ? 'queued' : 'no-worker';
  if (job.until !== null) return isDeserted ? left : 'backing-off';
  if (stopped_at !== null && isDeserted) return 'paused';
  const isBetween = job.age_s < chainedSeconds && (last_page_age_s ?? Infinity) < recentSeconds;
  if (isBetween) return 'running';
  return quiet < (isDeserted ? recentSeconds : stallSeconds) ? 'queued' : left;
}

/** A lane of the document. Pure. */
export const laneStatus = (record: LaneRecord, workers: Workers): LaneStatus => {
  const { shown, work, last_page_age_s: age_s } = record;
  return {
    ...shown,
    state: laneState({ ...record, ...shown }, work, workers),
    until: work?.until ?? null,
    quiet_s: work?.is_held === true ? Math.round(quietSeconds(age_s, work)) : null,
  };
};

export const isStalled = ({ state, quiet_s }: Pick<LaneStatus, 'state' | 'quiet_s'>): boolean =>
  state === 'quiet' && (quiet_s ?? 0) >= stallSeconds;

/** Possible waits of a quiet lane, as no row says which one it is; null: no lane is quiet. */
export function quietSentence(lanes: readonly LaneStatus[]): string | null {
  const quiet = lanes.flatMap(({ state, quiet_s }) => (state === 'quiet' ? [quiet_s ?? 0] : []));
  return quiet.length === 0
    ? null
    : `No page for ${Math.max(...quiet)} s: waits for an answer, for a retry, or for its turn at the key.`;
}

type RunTrouble = Pick<
  RunsDocument['runs'][number],
  'reason' | 'failed_requests' | 'first_failure' | 'waited_s'
>;

/** Why a run failed, or what it met although it did not; null: nothing. */
export function runReason({ reason, failed_requests, first_failure, waited_s }: RunTrouble) {
  if (first_failure === null) return reason;
  const waited = waited_s < 0.5 ? '' : `, waited ${duration(Math.round(waited_s))}`;
  const met = counted(failed_requests, 'failed request') + waited;
  return reason === null ? `${met}: ${first_failure}.` : `${reason} (${met})`;
}

/** Whether it is meant to be still: a person has paused it, or no deployment wants it. */
export const isHeld = (feed: Pick<FeedStatus, 'is_wanted' | 'paused_since'>): boolean =>
  !feed.is_wanted || feed.paused_since !== null;

/** Its state as people read it. */
export const stateName = ({
  is_wanted,
  state,
}: Pick<FeedStatus, 'is_wanted' | 'state'>): FeedStatus['state'] | 'at rest' =>
  is_wanted ? state : 'at rest';

/** Whether a worker reads it, or is about to. */
export const isRunning = ({ lanes }: Pick<FeedStatus, 'lanes'>, of?: LaneStatus['lane']): boolean =>
  lanes.some(({ lane, state }) => lane === (of ?? lane) && runningStates.has(state));

/** Whether it soon differs: a feed is read, a command works, or no feed is known yet. An outage has no workers. */
export const isChanging = ({ feeds, workers }: Pick<StatusDocument, 'feeds' | 'workers'>) =>
  workers !== null &&
  (feeds.length === 0 || workers.once > 0 || feeds.some((feed) => isRunning(feed)));

const runningStates: ReadonlySet<LaneState> = new Set(['running', 'quiet', 'queued']);

/** Whether no worker is known to continue it. */
export const isAbandoned = ({ state }: LaneStatus): boolean =>
  state === 'paused' || state === 'no-worker';

/**
 * A feed's state by the failure that a worker stored and by its lanes, which correct that of dead and starting workers;
 * null: the stored data decides. Pure.
 */
export function stateOfWork(
  { failure, sentence }: Pick<FeedStatus, 'failure' | 'sentence'>,
  lanes: readonly LaneStatus[],
): FeedStatus['state'] | null {
  const has = (wanted: LaneState) => lanes.some(({ state }) => state === wanted);
  const rule = failure === null ? null : failures[failure];
  const own = sentence === null ? null : (rule?.feed ?? 'failing');
  // A failure that the same run may overcome lasts until it does.
  const working = rule !== null && passing.has(rule.nextTry) ? own : 'running';
  if (lanes.every(({ state }) => state === 'idle')) return own;
  if (has('running')) return working;
  if (lanes.some(isStalled)) return 'failing';
  if (has('quiet')) return working;
  if (has('backing-off')) return own ?? 'running';
  if (has('queued')) return 'running';
  if (has('paused') && !has('no-worker')) return own ?? 'paused';
  return 'behind';
}
