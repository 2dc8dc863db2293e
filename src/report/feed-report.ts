import { chainName } from '../chains.ts';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import { none } from '../lists/estimates.ts';
import { feedName } from '../lists/feed.ts';
import type { Estimate } from '../lists/list.ts';
import { type ItemPace, readPaces } from '../status/facts.ts';
import { type LaneTimes, schedulesSet } from '../sync/queue.ts';
import type { Workers } from '../sync/takeover.ts';
import type { WorkLeft } from './credits.ts';
import { estimateFeeds, type FeedEstimate } from './estimate.ts';
import { feedEvidence, type FeedEvidence } from './evidence-facts.ts';
import { type Cron, nextFiring } from './firings.ts';
import { lastLooks, type Look, objectiveOf } from './freshness.ts';
import { type FeedNow, feedsNow, type LaneNow } from './lane-state.ts';
import { type FeedReach, feedReaches, registeredChains } from './lane-status.ts';
import { dataAgeOf } from './newest-items.ts';
import { inOrder } from './order.ts';
import { provedShare } from './proved-share.ts';

/** What `status` says of a feed. */
export type FeedReport = StatusDocument['feeds'][number];

/** All that is stored of a feed, and what is reckoned from it. */
interface FeedFacts {
  readonly now: FeedNow;
  /** Null: its kind tells nothing. */
  readonly reach: FeedReach | null;
  readonly evidence: FeedEvidence;
  readonly estimate: FeedEstimate | null;
  readonly look: Look | null;
  readonly pace: ItemPace | null;
  /** The schedule that a `start` set for the lane that goes to the head; null: none did. */
  readonly set: Cron | null;
}

/** The report on every feed, and what is left to request. */
interface FeedReports {
  readonly feeds: readonly FeedReport[];
  readonly work: WorkLeft;
}

const byFeed = <Row extends { readonly feed: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, Row> => new Map(rows.map((row) => [row.feed, row]));

const noEvidence = ({ feed, chain_id }: FeedNow): FeedFacts['evidence'] => ({
  feed,
  chain_name: chainName(chain_id),
  failure: null,
  is_proved: false,
  is_quarantined: false,
  quarantined_places: 0,
  numbers: null,
});

/** The report on every feed, from what is stored; it reads no more after a year of walks than after a day. */
export async function reportFeeds(
  db: Database,
  how: { readonly pageSize: number; readonly at: Date; readonly workers: Workers | null },
): Promise<FeedReports> {
  const reaches = byFeed(await feedReaches(db));
  const proofs = byFeed(await feedEvidence(db));
  const looks = byFeed(await lastLooks(db));
  const estimates = byFeed(await estimateFeeds(db, await registeredChains(db), how));
  const paces = await readPaces(db);
  const schedules = await schedulesSet(db);
  const feeds = inOrder(await feedsNow(db)).map((now) => {
    const { feed } = now;
    // Registered between two of these statements: nothing shows yet that it is proved.
    const evidence = proofs.get(feed) ?? noEvidence(now);
    const facts: FeedFacts = {
      now,
      reach: reaches.get(feed) ?? null,
      evidence,
      estimate: estimates.get(feed) ?? null,
      look: looks.get(feed) ?? null,
      pace: paces.get(feed) ?? null,
      set: headSchedule(schedules, feed),
    };
    return reportFeed(facts, how);
  });
  return { feeds, work: workLeft(feeds, estimates, how.workers) };
}

/** A list that is not served takes no requests, and without a `start` none is polled. */
function workLeft(
  feeds: readonly FeedReport[],
  estimates: ReadonlyMap<string, FeedEstimate>,
  workers: Workers | null,
): WorkLeft {
  const arePolled = workers?.start !== 0;
  let [pollsPerDay, least, most, isKnown] = [0, 0, 0, true];
  for (const { feed, state, left } of feeds) {
    if (state === 'unsupported') continue;
    const upkeep = estimates.get(feed)?.upkeep ?? unknown;
    if (arePolled) pollsPerDay += upkeep.requests ?? upkeep.least;
    least += left.requests.least;
    most += left.requests.most ?? 0;
    isKnown &&= left.requests.most !== null && (!arePolled || upkeep.requests !== null);
  }
  return { pollsPerDay, history: isKnown ? { least, most } : null };
}

/** The schedule of the lane that goes to the head: the live one, where there is one. */
export function headSchedule(schedules: readonly LaneTimes[], feed: string): Cron | null {
  const own = schedules.filter(({ lane }) => feedName(lane) === feed);
  return own.find(({ lane }) => lane.lane === 'live') ?? own[0] ?? null;
}

function reportFeed(
  facts: FeedFacts,
  {
    pageSize,
    at,
    workers,
  }: { readonly pageSize: number; readonly at: Date; readonly workers: Workers | null },
): FeedReport {
  const { now, reach, evidence, estimate, set, look } = facts;
  const { lanes, reason, state: _state, ...told } = now;
  const history = isDone(facts) ? none : (estimate?.history ?? unknown);
  const reported = lanes.map((lane) => reportLane(lane, history.likely ?? history.requests, at));
  const freshness = freshnessOf(facts, at);
  const data = dataOf(facts);
  const { share, basis } = provedShare({
    coverage: reach?.coverage ?? null,
    evidence,
    rows: now.rows,
    left: history,
    pageSize,
  });
  const polled =
    set !== null && (workers?.start ?? 0) > 0 ? nextFiring(set, at).toISOString() : null;
  return {
    ...told,
    chain_name: evidence.chain_name,
    state: stateOf(facts, freshness, data),
    failure: evidence.failure,
    reason,
    lag_s: reach?.lag_s ?? null,
    coverage: reach?.coverage ?? null,
    freshness,
    data,
    proved: {
      is_proved: evidence.is_proved,
      share,
      basis,
      numbers: evidence.numbers,
    },
    left: {
      requests: { least: history.least, likely: history.likely, most: history.requests },
      ends_at: reported.find(({ lane }) => lane === 'backfill')?.ends_at ?? null,
    },
    next_poll_at: latest(polled, look?.poll_again_at ?? null),
    lanes: reported,
  };
}

const unknown: Estimate = { least: 0, likely: null, requests: null };

/** What is not polled before a time is polled at no earlier one. */
const latest = (polled: string | null, notBefore: string | null): string | null =>
  polled === null || notBefore === null || Date.parse(notBefore) <= Date.parse(polled)
    ? polled
    : new Date(notBefore).toISOString();

/** History is what the backfill lane has left; what is new cannot be known beforehand. */
function reportLane(lane: LaneNow, history: number | null, at: Date): FeedReport['lanes'][number] {
  const state = lane.state === 'idle' ? 'done' : lane.state;
  const left_requests = lane.lane === 'backfill' ? history : null;
  const pace = lane.pages_per_second ?? 0;
  const isMoving = (state === 'running' || state === 'awaiting') && pace > 0;
  const seconds = left_requests === null || !isMoving ? null : Math.round(left_requests / pace);
  return {
    ...lane,
    state,
    left_requests,
    ends_in_s: seconds,
    ends_at: seconds === null ? null : new Date(at.getTime() + seconds * 1000).toISOString(),
  };
}

/** How current a feed is. A list that nothing is added to is never late. */
function freshnessOf(facts: FeedFacts, at: Date): FeedReport['freshness'] {
  const { look, set, now } = facts;
  const looked = { looked_at: look?.looked_at ?? null, age_s: look?.age_s ?? null };
  if (look === null) return { ...looked, objective: null, is_met: false };
  if (isDone(facts)) return { ...looked, objective: null, is_met: null };
  const objective = objectiveOf(look, set, at);
  // While it is read for the first time, there is nothing that could be old.
  const isFirst =
    look.looked_at === null && now.lanes.some(({ run_state }) => run_state === 'open');
  if (isFirst || now.pages === 0) return { ...looked, objective, is_met: null };
  return { ...looked, objective, is_met: look.age_s !== null && look.age_s <= objective.seconds };
}

/** How current its data is, as of the last look; not before the first reading has ended. */
function dataOf({ look, pace, evidence }: FeedFacts): FeedReport['data'] {
  const looked_at = look?.looked_at ?? null;
  const isBounded = evidence.numbers?.is_bounded === true;
  return pace === null || looked_at === null || isBounded ? null : dataAgeOf(pace, looked_at);
}

/** All that was asked for is read and proved, and nothing above it was asked for. */
const isDone = (facts: FeedFacts): boolean =>
  facts.evidence.numbers?.is_bounded === true && facts.evidence.is_proved && !isPartial(facts);

/** Something that was asked for is missing or not proved, and is there. */
function isPartial({ evidence: { is_proved, numbers }, reach }: FeedFacts): boolean {
  if (!is_proved || reach === null) return true;
  if (numbers !== null) return numbers.unread + numbers.doubtful + numbers.without_blocks > 0;
  return reach.coverage.of === 'blocks' && reach.coverage.gaps > 0;
}

/** What a feed is doing, in words that say how it stands where it rests. */
function stateOf(
  facts: FeedFacts,
  { is_met }: Pick<FeedReport['freshness'], 'is_met'>,
  data: FeedReport['data'],
): FeedReport['state'] {
  const { now } = facts;
  if (now.state !== 'idle') return now.state;
  if (now.pages === 0 && now.lanes.every(({ last_success_at }) => last_success_at === null)) {
    return 'unread';
  }
  const isPart = isPartial(facts) || facts.evidence.is_quarantined;
  if (isDone(facts) && !isPart) return 'done';
  if (is_met === false) return 'late';
  if (data?.is_met === false) return 'stale';
  return isPart ? 'partial' : 'current';
}
