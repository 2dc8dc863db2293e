import type { Workers } from '../sync/workers.ts';
import { kinds } from '../lists/index.ts';
import { isStalled, isUnseen } from './lanes.ts';
import { gathered, type Found } from './reasons.ts';
import type { FeedStatus, LaneStatus, Reason, StatusDocument } from './schema.ts';

type Overall = StatusDocument['overall'];

export interface OverallFacts extends Pick<
  StatusDocument,
  'standby' | 'workers' | 'credits' | 'feeds'
> {
  readonly at: Date;
}

const names = (feeds: readonly FeedStatus[]) => feeds.map(({ feed }) => feed);

/** Every reason against the overall state healthy, the most severe first. Pure. */
export function reasonsOf(facts: OverallFacts): Reason[] {
  const found = [...ofAll(facts), ...facts.feeds.flatMap((feed) => ofFeed(feed, facts))];
  // The missing worker explains the late poll.
  const isStopped = found.some(({ rule }) => rule === 'no-worker');
  const kept = isStopped ? found.filter(({ rule }) => rule !== 'late') : found;
  return gathered(kept, facts.at, facts.feeds);
}

/** A standby this far behind reports the past, in seconds. */
const standbySeconds = 60;

function ofAll(facts: OverallFacts): Found[] {
  const { feeds, workers, standby, at } = facts;
  const paused = names(feeds.filter(({ lanes }) => lanes.some(({ state }) => state === 'paused')));
  const unseen = names(feeds.filter(({ lanes }) => lanes.some((lane) => isUnseen(lane, at))));
  const reading = feeds.filter((feed) => isReading(feed, at));
  const found: Found[] = [...waits(facts), ...idleness(facts), ...pending(feeds, workers)];
  if (paused.length > 0) found.push({ rule: 'paused', feeds: paused });
  if (unseen.length > 0) found.push({ rule: 'unseen', feeds: unseen });
  if (standby !== null && (standby.behind_s ?? Infinity) > standbySeconds) {
    found.push({ rule: 'standby-behind', feeds: [], age_s: standby.behind_s });
  }
  if (reading.length > 0) {
    const ends = reading.map(({ left }) => left.ends_at);
    // Unknown if one feed's is.
    const until = ends.includes(null) ? null : latest(ends);
    found.push({ rule: 'reading', feeds: names(reading), count: reading.length, until });
  }
  return found;
}

const inTime = (times: readonly (string | null)[]): string[] =>
  times
    .filter((time) => time !== null)
    .toSorted((one, other) => Date.parse(one) - Date.parse(other));

/** The earliest known time; null: none is known. */
export const earliest = (times: readonly (string | null)[]) => inTime(times)[0] ?? null;
export const latest = (times: readonly (string | null)[]) => inTime(times).at(-1) ?? null;

function pending(feeds: readonly FeedStatus[], workers: Workers | null): Found[] {
  const unread = feeds.filter(({ state }) => state === 'pending');
  if (feeds.length > 0 && unread.length === 0) return [];
  if (isAtWork(workers)) return [{ rule: 'starting', feeds: names(unread) }];
  if (unread.length === feeds.length) return [{ rule: 'nothing-stored', feeds: [] }];
  return [{ rule: 'pending', feeds: names(unread) }];
}

/** By feeds, not keys: a replaced key stays paused for minutes, and no feed uses it any more. */
function waits({ feeds, credits: { keys } }: OverallFacts): Found[] {
  const waiting = feeds.filter(
    (feed) => feed.state === 'blocked' && !isRefused(feed) && feed.failure !== 'rejected',
  );
  return [...Map.groupBy(waiting, ({ failure }) => failure)].map(([failure, those]) => {
    const untils = those.flatMap(({ lanes }) => lanes.map(({ until }) => until));
    const paused = keys.filter((key) => key.failure === failure);
    const rule = failure === 'out-of-credits' ? 'out-of-credits' : 'throttled';
    const until = earliest([...untils, ...paused.map(({ paused_until }) => paused_until)]);
    return { rule, feeds: names(those), until };
  });
}

const isAtWork = (workers: Workers | null): boolean =>
  workers !== null && workers.start + workers.once > 0;

/** No worker is normal while nothing is due, or after a person stopped it. */
function idleness({ feeds, workers }: OverallFacts): Found[] {
  if (workers === null || isAtWork(workers)) return [];
  const due = feeds.filter(
    ({ lanes, poll }) =>
      lanes.some(({ state }) => state === 'no-worker') ||
      (poll.is_met === false && !lanes.some(({ state }) => state === 'paused')),
  );
  if (due.length === 0) return [];
  const since = latest(feeds.map(({ last_page_at }) => last_page_at));
  return [{ rule: 'no-worker', feeds: names(due), since }];
}

function ofFeed(feed: FeedStatus, { workers, at }: OverallFacts): Found[] {
  const { state, failure, quarantined, poll, newest_item, lanes } = feed;
  const own = { feeds: [feed.feed], failure, said: feed.sentence };
  const found: Found[] = [];
  if (quarantined > 0) found.push({ rule: 'quarantine', ...own, count: quarantined });
  if (state === 'pending') return found;
  if (state === 'unsupported') found.push({ rule: 'unsupported', ...own });
  if (isRefused(feed)) found.push({ rule: 'key-refused', ...own });
  if (state === 'blocked' && failure === 'rejected')
    found.push({ rule: 'request-rejected', ...own });
  if (state === 'failing' && !lanes.some(isStalled)) found.push({ rule: 'failing', ...own });
  for (const lane of lanes) {
    if (isStalled(lane)) found.push({ rule: 'stalled', ...own, age_s: lane.quiet_s });
    if (lane.state === 'no-worker' && isAtWork(workers)) {
      found.push({ rule: 'no-worker-of-feed', ...own });
    }
  }
  if (poll.is_met === false && poll.target !== null) {
    found.push({ rule: 'late', ...own, age_s: poll.age_s, limit_s: poll.target.seconds });
  }
  if (newest_item?.is_met === false) {
    const { age_s, usual_s } = newest_item;
    found.push({ rule: 'source-silent', ...own, unit: feed.unit, age_s, limit_s: usual_s });
  }
  return [...found, ...openOf(feed, at)];
}

const isRefused = ({ state, failure }: FeedStatus): boolean =>
  state === 'blocked' && (failure === 'unauthorized' || failure === 'key-missing');

/** Missing or unverified data that no worker reads. */
function openOf(feed: FeedStatus, at: Date): Found[] {
  const { is_verified, batches, gaps, missing } = feed.verified;
  const own = { feeds: [feed.feed], unit: feed.unit };
  const found: Found[] = [];
  const { unverified = 0, unread = 0, without_blocks = 0 } = batches ?? {};
  // With unread batches, which have their own reason, these wait for them.
  if (unverified > 0 && unread === 0) {
    found.push({ rule: 'unverified-batches', ...own, count: unverified });
  }
  if (without_blocks > 0) {
    found.push({ rule: 'batches-without-blocks', ...own, count: without_blocks });
  }
  // Another reason reports why nothing is read.
  const isHeldUp = feed.lanes.some((one) => one.lane === 'backfill' && isLeft(one, at));
  if (isReading(feed, at) || isHeldUp) return found;
  if (gaps > 0) found.push({ rule: 'gap', ...own, count: missing });
  else if (!is_verified) found.push({ rule: 'unverified', ...own });
  return found;
}

/** A backfill is open. A new snapshot is none: the previous one stays valid. */
const isReading = ({ kind, lanes, verified }: FeedStatus, at: Date): boolean =>
  !(kinds[kind].coverage.by === 'snapshot' && verified.is_verified) &&
  lanes.some((one) => one.lane === 'backfill' && one.run_state === 'open' && !isLeft(one, at));

/** No worker is known to continue it. */
const isLeft = (lane: LaneStatus, at: Date): boolean =>
  lane.state === 'paused' || lane.state === 'no-worker' || isUnseen(lane, at);

/** The overall state, by the reasons. Pure. */
export function overallOf(reasons: readonly Reason[], facts: OverallFacts): Overall {
  const of = (severity: Reason['severity']) => reasons.find((one) => one.severity === severity);
  const action = of('action');
  if (action !== undefined) return headline('action-required', action, facts);
  const stopped = reasons.find((one) => stops(one, facts));
  if (stopped !== undefined) return headline('stopped', stopped, facts);
  const warning = of('warning');
  if (warning !== undefined) return headline('degraded', warning, facts);
  const info = reasons.find(({ code }) => code === 'reading') ?? of('info');
  if (info !== undefined) return headline('syncing', info, facts);
  const sentence = 'All feeds are current and complete.';
  return { state: 'healthy', sentence, since: null, command: null };
}

/** Whether no page comes until a worker starts. */
function stops({ code, feeds, severity }: Reason, { workers, feeds: all }: OverallFacts): boolean {
  if (isAtWork(workers)) return false;
  if (code === 'paused') return true;
  if (workers === null) return false;
  return (
    code === 'no-worker' ||
    (code === 'pending' &&
      severity !== 'info' &&
      (feeds.length === 0 || feeds.length === all.length))
  );
}

/** The banner: the reason, with its feeds unless it concerns all. */
function headline(state: Overall['state'], reason: Reason, facts: OverallFacts): Overall {
  const { code, feeds, sentence, command } = reason;
  const total = facts.feeds.length;
  const [first = ''] = feeds;
  const whose =
    feeds.length === 0 || feeds.length === total || code === 'reading'
      ? ''
      : feeds.length === 1
        ? `${first}: `
        : `${feeds.length} of ${total} feeds: `;
  const text =
    code === 'no-worker' && state === 'stopped'
      ? `Stopped: ${sentence.replace('No', 'no')}`
      : `${whose}${sentence}`;
  return { state, sentence: text, since: sinceOf(reason, facts), command };
}

/** Since when; null: unknown. */
function sinceOf({ code, feeds: concerned }: Reason, { feeds }: OverallFacts): string | null {
  if (code === 'no-worker' || code === 'paused') {
    return latest(feeds.map(({ last_page_at }) => last_page_at));
  }
  if (code !== 'source-silent') return null;
  const those = feeds.filter(({ feed }) => concerned.includes(feed));
  return latest(those.map(({ newest_item }) => newest_item?.at ?? null));
}

/** Each feed with the sentence of its most severe reason, or its own. Pure. */
export function explained(facts: OverallFacts): FeedStatus[] {
  return facts.feeds.map((feed) => {
    const own = reasonsOf({ ...facts, feeds: [feed] });
    const first = own.find(({ severity, feeds }) => severity !== 'info' && feeds.length > 0);
    return { ...feed, sentence: first?.sentence ?? feed.sentence };
  });
}
