import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { feedName, type FeedState } from '../lists/feed.ts';
import { type LaneHolder, laneHolders, presentWorkers } from '../sync/takeover.ts';
import { type LaneRecord, laneRecords } from './lane-status.ts';
import { feedStatus, type FeedStatus } from './status.ts';

/**
 * What a lane is doing. `idle`: no run is open. Of an open one: `running`, by a worker that lives;
 * `awaiting`, a worker has it, and no page came for some seconds; `stalled`, none came for minutes; `queued`, it waits for a worker; `resting`, it waits
 * after a failure; `paused`, whoever had it was told to stop, and let go of it; `unattended`, nobody has it,
 * such as after a kill of every worker; `unknown`, a standby does not see who has it.
 */
const laneStates = [
  'idle',
  'running',
  'awaiting',
  'stalled',
  'queued',
  'resting',
  'paused',
  'unattended',
  'unknown',
] as const;
export type LaneState = (typeof laneStates)[number];

/**
 * What is seen of workers: the locks that show living ones are the primary's alone. `deserted`: it sees that
 * there are none.
 */
export type View = 'attended' | 'deserted' | 'standby';

/** A lane as it is now. */
export interface LaneNow extends Omit<LaneRecord, 'feed'> {
  readonly state: LaneState;
  /** ISO 8601; until when a resting lane rests. */
  readonly until: string | null;
  /** Since its last page, or since its worker took it up, in seconds. Null where no worker has it. */
  readonly quiet_s: number | null;
}

/** What a feed is doing: what a worker said last, or what is seen of its lanes. */
export type ShownState = FeedState | Exclude<LaneState, 'resting'>;

/** A feed as it is now: its stored state, held against who works on it. */
export interface FeedNow extends FeedStatus {
  readonly lanes: readonly LaneNow[];
}

/**
 * After so long without a page a lane awaits one, in seconds: a trickle is late after as many. No row
 * tells of a request that is under way, so that it is one is read from the silence.
 */
const awaitSeconds = 15;

/**
 * After so long without a page a lane is stalled, in seconds: an answer takes 2 minutes at most, so
 * a slow service brings one in time.
 */
const stallSeconds = 300;

/** A job that was queued so recently, after pages so recent, is a lane between two slices; seconds. */
const chainedSeconds = 1;
const recentSeconds = 15;

/** What a worker that still has the lane may have said last: it waits, or tries again. */
const waitingStates: ReadonlySet<string> = new Set(['degraded', 'waiting', 'unauthorized']);

/** How every feed is now. */
export async function feedsNow(db: Database): Promise<FeedNow[]> {
  const [feeds, records, jobs] = [
    await feedStatus(db),
    await laneRecords(db),
    await laneHolders(db),
  ];
  const view = await viewOf(db);
  return feeds.map((status) => {
    const lanes = records
      .filter(({ feed }) => feed === status.feed)
      .map(({ feed, ...record }): LaneNow => {
        const job = jobs.find(({ lane }) => feedName(lane) === feed && lane.lane === record.lane);
        const state = laneState(record, job, view);
        const quiet_s = job?.is === 'held' ? Math.round(quietSeconds(record, job)) : null;
        return { ...record, state, until: job?.until ?? null, quiet_s };
      });
    const state = feedState(status.state, lanes);
    return { ...status, state, reason: status.reason ?? silence(state, lanes), lanes };
  });
}

async function viewOf(db: Database): Promise<View> {
  const { rows } = await db.execute<{ is_standby: boolean }>(
    sql`select pg_is_in_recovery() as is_standby`,
  );
  if (rows[0]?.is_standby === true) return 'standby';
  const { start, once } = await presentWorkers(db);
  return start + once > 0 ? 'attended' : 'deserted';
}

/** What keeps a feed that says nothing of a failure. */
function silence(state: string, lanes: readonly LaneNow[]): string | null {
  if (state !== 'awaiting' && state !== 'stalled') return null;
  const quiet = lanes.flatMap((lane) => (lane.state === state ? [lane.quiet_s ?? 0] : []));
  return `no page for ${Math.max(...quiet)} s: waits for an answer, for another try, or for its turn at the key`;
}

const quietSeconds = (
  { last_page_age_s }: Pick<LaneRecord, 'last_page_age_s'>,
  job: Pick<LaneHolder, 'age_s'>,
): number => Math.min(job.age_s, last_page_age_s ?? Infinity);

/** What a lane is doing, by its run and its job, as far as can be seen from there. Pure. */
export function laneState(
  record: Pick<LaneRecord, 'run_state' | 'last_page_age_s' | 'stopped_at'>,
  job: Pick<LaneHolder, 'is' | 'age_s'> | undefined,
  view: View,
): LaneState {
  const { run_state, last_page_age_s, stopped_at } = record;
  if (run_state !== 'open') return 'idle';
  const lost = view === 'standby' ? 'unknown' : 'unattended';
  // Taken up after that, and its worker is gone: that one did not stop by itself.
  if (job?.is === 'lost') return lost;
  const left = stopped_at === null ? lost : 'paused';
  if (job === undefined) return left;
  if (job.is === 'resting') return view === 'deserted' ? left : 'resting';
  const quiet = quietSeconds(record, job);
  if (job.is === 'queued') {
    const isBetween = job.age_s < chainedSeconds && (last_page_age_s ?? Infinity) < recentSeconds;
    if (stopped_at !== null && view === 'deserted') return 'paused';
    if (isBetween) return 'running';
    return quiet < (view === 'deserted' ? recentSeconds : stallSeconds) ? 'queued' : left;
  }
  if (quiet >= stallSeconds) return 'stalled';
  return quiet < awaitSeconds ? 'running' : 'awaiting';
}

/**
 * What a feed is doing. What is stored is what a worker said last; a worker that was killed says
 * nothing more, and one that is about to begin has not spoken yet. Pure.
 */
export function feedState(
  stored: ShownState,
  lanes: readonly Pick<LaneNow, 'state'>[],
): ShownState {
  const isQuiet = stored === 'running' || stored === 'idle';
  const has = (wanted: LaneState) => lanes.some(({ state }) => state === wanted);
  if (lanes.every(({ state }) => state === 'idle')) return isQuiet ? 'idle' : stored;
  if (has('running')) return waitingStates.has(stored) ? stored : 'running';
  if (has('stalled')) return 'stalled';
  if (has('awaiting')) return waitingStates.has(stored) ? stored : 'awaiting';
  if (has('resting')) return isQuiet ? 'queued' : stored;
  if (has('queued')) return 'queued';
  if (has('paused') && !has('unattended')) return isQuiet ? 'paused' : stored;
  return has('unattended') ? 'unattended' : 'unknown';
}
