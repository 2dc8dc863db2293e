import type { LaneHolder, Workers } from '../sync/takeover.ts';
import type { FeedState } from '../lists/feed.ts';
import type { LaneRecord } from './facts.ts';
import type { LaneStatus } from './schema.ts';

type LaneState = LaneStatus['state'];

/** What is seen of workers: their locks show only on the primary. `deserted`: it sees that there are none. */
export type View = 'attended' | 'deserted' | 'standby';

/** @param workers null: this is a standby */
export const viewOf = (workers: Workers | null): View =>
  workers === null ? 'standby' : workers.start + workers.once > 0 ? 'attended' : 'deserted';

/** After so long without a page a lane is quiet, in seconds. No row says that a request is under way. */
const quietAfterSeconds = 15;

/** After so long it is stalled, in seconds: an answer takes 2 minutes at most, so a slow service is in time. */
const stallSeconds = 300;

/** A job queued so recently, after pages so recent, is a lane between two slices; seconds. */
const chainedSeconds = 1;
const recentSeconds = 15;

/** Since a lane's last page, or since its worker took it up, in seconds. */
const quietSeconds = (
  { last_page_age_s }: Pick<LaneRecord, 'last_page_age_s'>,
  job: Pick<LaneHolder, 'age_s'>,
): number => Math.min(job.age_s, last_page_age_s ?? Infinity);

/** What of a lane's newest run decides what it is doing. */
type LaneRun = Pick<LaneRecord, 'last_page_age_s' | 'stopped_at'> &
  Pick<LaneRecord['shown'], 'run_state'>;

/** What a lane is doing, by its run and its job, as far as can be seen. Pure. */
export function laneState(
  { run_state, last_page_age_s, stopped_at }: LaneRun,
  job: Pick<LaneHolder, 'is' | 'age_s'> | undefined,
  view: View,
): LaneState {
  if (run_state !== 'open') return 'idle';
  const lost = view === 'standby' ? 'unknown' : 'no-worker';
  // Taken up after it was stopped, and its worker is gone: that one did not stop by itself.
  if (job?.is === 'lost') return lost;
  const left = stopped_at === null ? lost : 'paused';
  if (job === undefined) return left;
  if (job.is === 'resting') return view === 'deserted' ? left : 'backing-off';
  const quiet = quietSeconds({ last_page_age_s }, job);
  if (job.is === 'held') return quiet < quietAfterSeconds ? 'running' : 'quiet';
  if (stopped_at !== null && view === 'deserted') return 'paused';
  const isBetween = job.age_s < chainedSeconds && (last_page_age_s ?? Infinity) < recentSeconds;
  if (isBetween) return 'running';
  return quiet < (view === 'deserted' ? recentSeconds : stallSeconds) ? 'queued' : left;
}

/** A lane as the document has it. Pure. */
export const laneStatus = (
  record: LaneRecord,
  job: LaneHolder | undefined,
  view: View,
): LaneStatus => ({
  ...record.shown,
  state: laneState({ ...record, ...record.shown }, job, view),
  until: job?.until ?? null,
  quiet_s: job?.is === 'held' ? Math.round(quietSeconds(record, job)) : null,
});

export const isStalled = ({ state, quiet_s }: Pick<LaneStatus, 'state' | 'quiet_s'>): boolean =>
  state === 'quiet' && (quiet_s ?? 0) >= stallSeconds;

/** On a standby: a run is open, and no page came for minutes. */
export const isUnseen = ({ state, last_page_at, run_opened_at }: LaneStatus, at: Date): boolean =>
  state === 'unknown' &&
  at.getTime() - Date.parse(last_page_at ?? run_opened_at) > 1000 * stallSeconds;

/** What a lane that a worker has waits for; null: each has pages. No row says which of the three it is. */
export function quietSentence(lanes: readonly LaneStatus[]): string | null {
  const quiet = lanes.flatMap(({ state, quiet_s }) => (state === 'quiet' ? [quiet_s ?? 0] : []));
  return quiet.length === 0
    ? null
    : `No page for ${Math.max(...quiet)} s: waits for an answer, for a retry, or for its turn at the key.`;
}

/** What a worker that still has the lane may have stored last: it waits, or retries. */
const retryingStates: ReadonlySet<string> = new Set(['degraded', 'waiting', 'unauthorized']);

/** What a feed is doing: what a worker stored last, or what is seen of its lanes. */
export type Activity = FeedState | 'queued' | 'stalled' | 'paused' | 'no-worker' | 'unknown';

/**
 * What a feed is doing. A killed worker stores nothing more, and one that is about to begin has not stored
 * anything yet, so the stored state is held against the lanes. Pure.
 */
export function activityOf(
  stored: FeedState,
  lanes: readonly Pick<LaneStatus, 'state' | 'quiet_s'>[],
): Activity {
  const isQuiet = stored === 'running' || stored === 'idle';
  const has = (wanted: LaneState) => lanes.some(({ state }) => state === wanted);
  if (lanes.every(({ state }) => state === 'idle')) return isQuiet ? 'idle' : stored;
  if (has('running')) return retryingStates.has(stored) ? stored : 'running';
  if (lanes.some(isStalled)) return 'stalled';
  if (has('quiet')) return retryingStates.has(stored) ? stored : 'running';
  if (has('backing-off')) return isQuiet ? 'queued' : stored;
  if (has('queued')) return 'queued';
  if (has('paused') && !has('no-worker')) return isQuiet ? 'paused' : stored;
  return has('no-worker') ? 'no-worker' : 'unknown';
}
