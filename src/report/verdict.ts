import type { StatusDocument } from '../documents/status.ts';

export type Verdict = StatusDocument['verdict'];
type VerdictKind = Verdict['kind'];
type Reason = Verdict['reasons'][number];
type ReasonKind = Reason['kind'];
type Feed = StatusDocument['feeds'][number];

/** What a verdict is judged from: all that `status` tells but the verdict. */
export type VerdictFacts = Pick<StatusDocument, 'standby' | 'workers' | 'credits' | 'feeds'>;

/**
 * What each reason makes of the whole, and the reasons by their gravity: what only a person mends, then what
 * stands still, then what is being made good.
 */
export const verdictOf: Readonly<Record<ReasonKind, VerdictKind>> = {
  'database-away': 'database-away',
  unreadable: 'unknown',
  'key-refused': 'needs-you',
  rejected: 'needs-you',
  unsupported: 'needs-you',
  quarantine: 'needs-you',
  'nobody-works': 'stopped',
  paused: 'paused',
  waiting: 'waiting',
  stale: 'degraded',
  'standby-behind': 'behind',
  unseen: 'behind',
  stalled: 'behind',
  unattended: 'behind',
  failed: 'behind',
  degraded: 'behind',
  unordered: 'behind',
  late: 'behind',
  gap: 'behind',
  doubtful: 'behind',
  'without-blocks': 'behind',
  unproved: 'behind',
  'never-read': 'behind',
  reading: 'reading-history',
};

const gravity = Object.keys(verdictOf) as readonly ReasonKind[];

/** A standby that is so far behind tells of the past, in seconds. */
const standbySeconds = 60;

/**
 * How all is, with each reason. Healthy has to be shown: every feed was read, is proved whole, and was looked
 * at lately; what is not known is held against it. Pure.
 */
export function judge(facts: VerdictFacts): Verdict {
  const { feeds, workers } = facts;
  const isWorkedOn = workers !== null && workers.start + workers.once > 0;
  const isUnread = feeds.every(({ state }) => state === 'unread');
  const reasons = [...ofAll(facts), ...feeds.flatMap((feed) => ofFeed(feed, isWorkedOn))].toSorted(
    (a, b) => gravity.indexOf(a.kind) - gravity.indexOf(b.kind),
  );
  const [gravest] = reasons;
  if (gravest === undefined) return { kind: 'healthy', reasons };
  if (gravest.kind === 'never-read' && isUnread) return { kind: 'never-read', reasons };
  return { kind: verdictOf[gravest.kind], reasons };
}

/** What concerns more than one feed. */
function ofAll({ feeds, workers, standby, credits }: VerdictFacts): Reason[] {
  const named = (which: (feed: Feed) => boolean) => feeds.filter(which).map(({ feed }) => feed);
  const unread = named(({ state }) => state === 'unread');
  const paused = named(({ lanes }) => lanes.some(({ state }) => state === 'paused'));
  const unseen = named(({ lanes }) => lanes.some(isUnseen));
  const reading = feeds.filter(isReading);
  const reasons: Reason[] = [
    ...refusals(feeds),
    ...waits(feeds, credits.keys),
    ...idleness(feeds, workers),
  ];
  if (paused.length > 0) reasons.push({ kind: 'paused', feeds: paused });
  if (unseen.length > 0) reasons.push({ kind: 'unseen', feeds: unseen });
  if (standby !== null && (standby.behind_s ?? Infinity) > standbySeconds) {
    reasons.push({ kind: 'standby-behind', behind_s: standby.behind_s });
  }
  if (unread.length > 0 || feeds.length === 0) reasons.push({ kind: 'never-read', feeds: unread });
  if (reading.length > 0) {
    reasons.push({
      kind: 'reading',
      feeds: reading.map(({ feed }) => feed),
      ends_at: latestOf(reading.map(({ left }) => left.ends_at)),
    });
  }
  return reasons;
}

/** No page for so long is no reading that could be seen from a standby, in seconds. */
const quietSeconds = 300;

type Lane = Feed['lanes'][number];

/** Only the primary knows who has it, and what came tells nothing. */
const isUnseen = ({ state, last_page_age_s }: Lane): boolean =>
  state === 'unknown' && (last_page_age_s ?? Infinity) > quietSeconds;

/** A history whose lane is open, by whoever has it. A census that is taken anew is none: the last one holds. */
const isReading = ({ lanes, proved, coverage }: Feed): boolean =>
  !(coverage?.of === 'ranking' && proved.is_proved) &&
  lanes.some((one) => one.lane === 'backfill' && one.run_state === 'open' && !isLeft(one));

/** Nobody is known to go on with it. */
const isLeft = (lane: Lane): boolean =>
  lane.state === 'paused' || lane.state === 'unattended' || isUnseen(lane);

const byTime = (a: string, b: string): number => Date.parse(a) - Date.parse(b);

/** Null where one of them is not known. */
function latestOf(times: readonly (string | null)[]): string | null {
  const known = times.filter((time) => time !== null);
  return known.length < times.length ? null : (known.toSorted(byTime).at(-1) ?? null);
}

/** By feeds and not by keys: one that was replaced stays paused for minutes, and nobody uses it any more. */
function refusals(feeds: readonly Feed[]): Reason[] {
  const refused = feeds.filter(({ state }) => state === 'unauthorized');
  return [...Map.groupBy(refused, ({ failure }) => failure)].map(([failure, those]) => ({
    kind: 'key-refused',
    failure,
    feeds: those.map(({ feed }) => feed),
  }));
}

function waits(feeds: readonly Feed[], keys: VerdictFacts['credits']['keys']): Reason[] {
  const waiting = feeds.filter(({ state }) => state === 'waiting');
  return [...Map.groupBy(waiting, ({ failure }) => failure)].map(([failure, those]) => {
    const rests = those.flatMap(({ lanes }) => lanes.flatMap(({ until }) => until ?? []));
    const paused = keys.flatMap((key) => (key.failure === failure ? (key.paused_until ?? []) : []));
    const until = [...rests, ...paused].toSorted(byTime)[0] ?? null;
    return { kind: 'waiting', failure, feeds: those.map(({ feed }) => feed), until };
  });
}

/** That nobody works is no fault while nothing is due, or where whoever worked was told to stop. */
function idleness(feeds: readonly Feed[], workers: VerdictFacts['workers']): Reason[] {
  if (workers === null || workers.start + workers.once > 0) return [];
  const due = feeds.filter(
    ({ lanes, freshness }) =>
      lanes.some(({ state }) => state === 'unattended') ||
      (freshness.is_met === false && !lanes.some(({ state }) => state === 'paused')),
  );
  if (due.length === 0) return [];
  const newest = feeds.toSorted(
    (a, b) => (a.last_page_age_s ?? Infinity) - (b.last_page_age_s ?? Infinity),
  )[0];
  return [
    {
      kind: 'nobody-works',
      feeds: due.map(({ feed }) => feed),
      last_page_at: newest?.last_page_at ?? null,
      last_page_age_s: newest?.last_page_age_s ?? null,
    },
  ];
}

/** What one feed has, each thing for itself. */
function ofFeed(report: Feed, isWorkedOn: boolean): Reason[] {
  const { feed, state, failure, reason, quarantined, freshness, lanes } = report;
  const reasons: Reason[] = [];
  if (quarantined > 0) reasons.push({ kind: 'quarantine', feed, items: quarantined });
  if (state === 'unread') return reasons;
  if (state === 'unsupported') reasons.push({ kind: 'unsupported', feed, reason });
  if (state === 'failed' && failure === 'rejected')
    reasons.push({ kind: 'rejected', feed, reason });
  else if (state === 'failed') reasons.push({ kind: 'failed', feed, failure, reason });
  if (state === 'degraded') reasons.push({ kind: 'degraded', feed, failure, reason });
  if (state === 'unordered') reasons.push({ kind: 'unordered', feed, reason });
  for (const { state: doing, quiet_s } of lanes) {
    if (doing === 'stalled') reasons.push({ kind: 'stalled', feed, quiet_s: quiet_s ?? 0 });
    if (doing === 'unattended' && isWorkedOn) reasons.push({ kind: 'unattended', feed });
  }
  const { objective, age_s } = freshness;
  if (freshness.is_met === false) {
    // Where nothing says how old it may be, nothing says that it is new enough.
    reasons.push(
      objective === null ? { kind: 'unproved', feed } : { kind: 'late', feed, age_s, objective },
    );
  }
  return [...reasons, ...staleOf(report), ...openOf(report)];
}

/** A source that has stopped: it answers, and lists nothing new. */
function staleOf({ feed, data, coverage }: Feed): Reason[] {
  if (data === null || data.is_met) return [];
  const { age_s, usual_s, limit_s } = data;
  const isOfBlocks = coverage?.of === 'blocks' && coverage.unit === 'blocks';
  return [{ kind: 'stale', feed, unit: isOfBlocks ? 'items' : 'batches', age_s, usual_s, limit_s }];
}

/** What is missing of a feed, or is not proved, and nobody is at it. */
function openOf(report: Feed): Reason[] {
  const { feed, coverage, proved } = report;
  const reasons: Reason[] = [];
  const { doubtful = 0, unread = 0, without_blocks = 0 } = proved.numbers ?? {};
  // Beside batches that nobody has read, these wait for them: that is said already.
  if (doubtful > 0 && unread === 0) reasons.push({ kind: 'doubtful', feed, batches: doubtful });
  if (without_blocks > 0) reasons.push({ kind: 'without-blocks', feed, batches: without_blocks });
  if (isReading(report) || isHeldUp(report)) return reasons;
  if (coverage?.of === 'blocks' && coverage.gaps > 0) {
    const { unit, gaps, missing } = coverage;
    reasons.push({ kind: 'gap', feed, unit, gaps, missing });
  } else if (unread > 0) {
    reasons.push({ kind: 'gap', feed, unit: 'batches', gaps: 1, missing: unread });
  } else if (!proved.is_proved || coverage === null) {
    reasons.push({ kind: 'unproved', feed });
  }
  return reasons;
}

/** What keeps it from being read is said already. */
const isHeldUp = ({ lanes }: Feed): boolean =>
  lanes.some((one) => one.lane === 'backfill' && isLeft(one));
