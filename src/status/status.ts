import type { Pool } from 'pg';
import { isAway } from '../db/failure.ts';
import { readWork } from '../db/state.ts';
import { maintenance } from '../db/tables.ts';
import type { Database } from '../db/transaction.ts';
import { type Estimate, type Estimates, none } from '../lists/list.ts';
import { isOperation, operations } from '../lists/registry.ts';
import { printable } from '../printable.ts';
import { presentWorkers, readDeployments, type Workers } from '../sync/workers.ts';
import { creditsOf, readCredits, type WorkLeft } from './credits.ts';
import { estimateOf, type ForecastOptions, sum } from './estimate.ts';
import {
  type FeedRecord,
  type ItemPace,
  type LaneRecord,
  type OverallFacts,
  readFeeds,
  readLanes,
} from './facts.ts';
import { isAtWork, isHeld, isRunning, laneStatus, quietSentence, stateOfWork } from './lanes.ts';
import { duringOutage, type Outage, readOutages, withFault } from './outages.ts';
import { reasonsOf } from './reasons.ts';
import { earliest, lastPageAt, latest, notesOf } from './sentences.ts';
import { pollTarget } from './schedule.ts';
import type { FeedStatus, LaneStatus, Reason, StatusDocument } from './schema.ts';

/** The feeds of a status: those that a deployment wants, all, or those of a command, which are judged like wanted ones. */
export type Chosen = 'wanted' | 'all' | ReadonlySet<string>;

/** Reads the status in as many statements for any number of feeds. */
export async function readStatus(
  db: Database,
  pageSize: number,
  chosen: Chosen = 'wanted',
): Promise<StatusDocument> {
  const workers = await presentWorkers(db);
  const { at, keys } = await readCredits(db);
  const stored = await readFeeds(db);
  const isShown = ({ shown }: FeedRecord) =>
    chosen === 'all' || (chosen === 'wanted' ? shown.is_wanted : chosen.has(shown.feed));
  const isNamed = typeof chosen === 'object';
  const records = stored.filter(isShown).map((record) => ({
    ...record,
    shown: { ...record.shown, is_wanted: record.shown.is_wanted || isNamed },
  }));
  const at_rest = stored
    .filter((record) => !isShown(record) && !record.shown.is_wanted)
    .map(({ shown }) => shown.feed);
  const lanes = Map.groupBy(await readLanes(db), ({ feed }) => feed);
  const isRead = ({ feeds: those }: Outage) =>
    records.some(({ shown }) => those.includes(shown.feed));
  const outages = (await readOutages(db)).filter(isRead);
  const described = records.map((record) =>
    describeFeed(record, lanes.get(record.shown.feed) ?? [], { pageSize, at, workers }),
  );
  const credits = creditsOf(keys, workLeft(described, workers), at);
  const failed = await db.select().from(maintenance).orderBy(maintenance.task);
  const feeds = described.map(({ feed }) => duringOutage(feed, outages));
  const deployments = await readDeployments(db);
  const names = stored.map(({ shown }) => nameOf(shown));
  const known = { at, workers, credits, maintenance: failed, outages };
  return documentOf({ ...known, deployments, at_rest, names, feeds });
}

export function documentOf(facts: OverallFacts): StatusDocument {
  const { at, workers, credits } = facts;
  const reasons = reasonsOf(facts);
  const feeds = explained(facts);
  return {
    schema: 'explorer-etl/status/2',
    as_of: at.toISOString(),
    overall: overallOf(reasons, facts),
    reasons,
    notes: notesOf(feeds),
    totals: totalsOf(feeds),
    credits,
    workers,
    next_poll_at: earliest(feeds.map(({ poll }) => poll.next_at)),
    deployments: [...facts.deployments],
    at_rest: [...facts.at_rest],
    names: [...facts.names],
    feeds,
  };
}

type Overall = StatusDocument['overall'];

/** The overall state, by the reasons, the most severe first. Pure. */
function overallOf(reasons: readonly Reason[], facts: OverallFacts): Overall {
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
function stops({ code, feeds, severity, blocks_readiness }: Reason, facts: OverallFacts): boolean {
  if (isAtWork(facts.workers)) return false;
  // A person pauses feeds without stopping workers.
  if (code === 'paused') return blocks_readiness;
  return (
    code === 'no-worker' ||
    (code === 'pending' &&
      severity !== 'info' &&
      (feeds.length === 0 || feeds.length === facts.feeds.filter((one) => !isHeld(one)).length))
  );
}

/** The banner: the reason, with its feeds unless it concerns all. */
function headline(state: Overall['state'], reason: Reason, facts: OverallFacts): Overall {
  const { feeds: all } = facts;
  const { code, feeds, sentence, command } = reason;
  const isOfAll =
    feeds.length === 0 ||
    feeds.length === all.length ||
    code === 'reading' ||
    (code === 'no-worker' && state === 'stopped');
  const some = feeds.length === 1 ? feeds[0] : `${feeds.length} of ${all.length} feeds`;
  const text = isOfAll ? sentence : `${some}: ${sentence}`;
  return { state, sentence: text, since: sinceOf(reason, facts), command };
}

/** Since when; null: unknown. What blocks progress, or fails, began after the last page. */
function sinceOf(
  { code, blocks_readiness: isBlocking, feeds }: Reason,
  { feeds: all, outages }: OverallFacts,
) {
  if (code === 'explorer-unreachable') return earliest(outages.map(({ since }) => since));
  if (code === 'no-worker' && outages.length > 0) return null;
  const isOfAll = feeds.length === 0 || code === 'no-worker';
  const own = isOfAll ? all : all.filter(({ feed }) => feeds.includes(feed));
  if (code === 'source-silent')
    return latest(own.map(({ newest_item }) => newest_item?.at ?? null));
  if (code === 'reading') {
    const backfills = own.flatMap(({ lanes }) => lanes.filter(({ lane }) => lane === 'backfill'));
    return earliest(backfills.map(({ run_opened_at }) => run_opened_at));
  }
  const isSinceLastPage = isBlocking || code === 'failing' || code === 'unsupported';
  return isSinceLastPage ? lastPageAt(own) : null;
}

/** Each feed with the sentence of its most severe reason, or its own. Pure. */
const explained = (facts: OverallFacts): FeedStatus[] =>
  facts.feeds.map((feed) => {
    const own = reasonsOf({ ...facts, feeds: [feed] });
    const first = own.find(({ severity, feeds }) => severity !== 'info' && feeds.length > 0);
    return { ...feed, sentence: first?.sentence ?? feed.sentence };
  });

function totalsOf(feeds: readonly FeedStatus[]): StatusDocument['totals'] {
  // The explorer lists nothing of what it does not serve.
  const served = feeds.filter(({ state }) => state !== 'unsupported');
  const shares = served.flatMap(({ verified: { share } }) => share ?? []);
  const isWhole = shares.length > 0 && shares.length === served.length;
  return {
    rows: sum(feeds.map(({ rows }) => rows)),
    rows_today: sum(feeds.map(({ rows_today }) => rows_today)),
    newest_item_at: latest(feeds.map(({ newest_item }) => newest_item?.at ?? null)),
    verified_share: isWhole ? sum(shares) / shares.length : null,
  };
}

/** The status of a database without tables. */
export function emptyStatus(at: Date): StatusDocument {
  const credits = creditsOf([], { pollsPerDay: 0, history: null }, at);
  const known = { at, workers: { start: 0, once: 0 }, credits, maintenance: [], outages: [] };
  return documentOf({ ...known, deployments: [], at_rest: [], names: [], feeds: [] });
}

/** The status after an error. A database that is slow counts as reachable. */
export function outageStatus(at: Date, error: unknown): StatusDocument {
  const how = isAway(error) ? 'is unreachable' : 'did not report the status';
  return withFault({ ...emptyStatus(at), reasons: [], workers: null }, error, how);
}

/** Whether the database reported the status; otherwise there are no lists and credits. */
export const isKnown = ({ workers }: Pick<StatusDocument, 'workers'>): boolean => workers !== null;

/** The status of a database, also of one without tables. @throws StandbyError, errors of Postgres */
export const statusNow = (pool: Pool, pageSize: number, chosen?: Chosen): Promise<StatusDocument> =>
  readWork(pool, (db) => readStatus(db, pageSize, chosen), emptyStatus(new Date()));

/** The status; an outage is a status too. */
export const statusOrOutage = (
  pool: () => Promise<Pool>,
  pageSize: number,
): Promise<StatusDocument> =>
  pool()
    .then((ready) => statusNow(ready, pageSize))
    .catch((error: unknown) => outageStatus(new Date(), error));

interface Reading extends ForecastOptions {
  readonly workers: Workers;
}

/** A feed, and what a day of its polls takes. */
type Described = ReturnType<typeof describeFeed>;

const unknowable: Estimate = { least: 0, likely: null, most: null };
const unknown: Estimates = { history: unknowable, upkeep: unknowable };

/** How people read its name, also of a list that only a newer version knows. */
const nameOf = ({ feed, chain_name, operation: own }: FeedRecord['shown']) => {
  return {
    feed,
    chain_name,
    label: isOperation(own) ? operations[own].guide.list : printable(own),
  };
};

/** A feed's state and figures, by the settings of its last registration; the reasons add why. Pure. */
function describeFeed(record: FeedRecord, ofLanes: readonly LaneRecord[], reading: Reading) {
  const { shown, verified, pace, poll: polled } = record;
  const { operation } = shown;
  const { history, upkeep } = isOperation(operation)
    ? estimateOf({ ...record, operation }, reading)
    : unknown;
  const left = isDone(verified) ? none : history;
  const lanes = ofLanes.map((lane) => laneStatus(lane, reading.workers));
  const poll = pollOf(record, lanes, reading);
  // Unknown before the first read has ended.
  const newest_item =
    pace === null || polled.last_at === null || isBounded(verified)
      ? null
      : newestItem(pace, polled.last_at);
  const feed: FeedStatus = {
    ...shown,
    ...nameOf(shown),
    state:
      isHeld(shown) && !isRunning({ lanes })
        ? 'paused'
        : (stateOfWork(shown, lanes) ?? stateOfData(record, { lanes, poll, newest_item })),
    sentence: shown.is_wanted
      ? (shown.sentence ?? quietSentence(lanes))
      : 'At rest: no deployment wants it.',
    // Read a moment after the rows.
    rows_today: Math.min(shown.rows, sum(ofLanes.map(({ rows_today }) => rows_today))),
    newest_item,
    poll,
    verified: { ...verified, ...verifiedShare(record, left, reading.pageSize) },
    left: leftOf(left, lanes, reading.at),
    lanes,
  };
  return { feed, upkeep };
}

/** The target is read and verified, and has an upper bound. */
const isDone = (verified: FeedRecord['verified']): boolean =>
  isBounded(verified) && !isPartial(verified);

const isBounded = ({ batches }: FeedRecord['verified']): boolean => batches?.is_bounded === true;

/** Existing data of the target is missing or unverified. */
const isPartial = ({ is_verified, batches, gaps }: FeedRecord['verified']): boolean =>
  !is_verified || gaps > 0 || (batches !== null && batches.unverified + batches.without_blocks > 0);

/** The state of a feed that nothing works on, fails or waits for. */
function stateOfData(
  { verified, shown: { pages, quarantined } }: FeedRecord,
  { lanes, poll, newest_item }: Pick<FeedStatus, 'lanes' | 'poll' | 'newest_item'>,
): FeedStatus['state'] {
  if (pages === 0 && lanes.every(({ last_success_at }) => last_success_at === null)) {
    return 'pending';
  }
  // The target of a bounded list is never late: no new item can come.
  const isLate = poll.is_met === false || newest_item?.is_met === false;
  return isPartial(verified) || quarantined > 0 || isLate ? 'behind' : 'current';
}

/** How current the head is. A list without new items is never late. */
function pollOf(
  record: FeedRecord,
  lanes: readonly LaneStatus[],
  { at, workers }: Reading,
): FeedStatus['poll'] {
  const { last_at, age_s } = record.poll;
  if (isHeld(record.shown)) return { last_at, age_s, target: null, is_met: null, next_at: null };
  const next = workers.start > 0 ? record.next_due_at : null;
  const polled = next === null ? null : new Date(next).toISOString();
  const next_at = later(polled, record.poll_again_at);
  if (isDone(record.verified)) return { last_at, age_s, target: null, is_met: null, next_at };
  const target = pollTarget(record, at);
  // Nothing can be old during the first read.
  const isFirst = last_at === null && lanes.some(({ run_state }) => run_state === 'open');
  const isJudged = !isFirst && record.shown.pages > 0;
  const is_met = isJudged ? age_s !== null && age_s <= target.seconds : null;
  return { last_at, age_s, target, is_met, next_at };
}

/** A poll comes no earlier than `notBefore`. */
const later = (polled: string | null, notBefore: string | null): string | null =>
  polled === null || notBefore === null || Date.parse(notBefore) <= Date.parse(polled)
    ? polled
    : new Date(notBefore).toISOString();

/** A silence this many times the longest usual one is not normal. */
const silences = 3;
/** A list busy by day may have no items at night; in seconds. */
const leastLimitSeconds = 6 * 3600;

/**
 * The age of the newest item at the last poll (ISO 8601), and its limit. Later items are not stored yet. The newest
 * times count if lower ones confirm them. Pure.
 */
export function newestItem(
  { newest, usual_s, longest_s }: ItemPace,
  polled_at: string,
): NonNullable<FeedStatus['newest_item']> {
  const limit_s = Math.max(leastLimitSeconds, silences * longest_s);
  const confirmed = newest.at(-1) ?? 0;
  const at = newest.find((time) => time <= confirmed + limit_s) ?? confirmed;
  const age_s = Math.max(0, Date.parse(polled_at) / 1000 - at);
  return {
    at: new Date(at * 1000).toISOString(),
    age_s: Math.round(age_s),
    usual_s: Math.round(usual_s),
    limit_s: Math.round(limit_s),
    is_met: age_s <= limit_s,
  };
}

type Share = Pick<FeedStatus['verified'], 'share' | 'basis'>;
const noShare: Share = { share: null, basis: 'unknown' };

/**
 * The verified part of a list, by the rule of `verify`: without positions that can contain a quarantined item. Batches
 * count unless they wait for the next one. For an unknown length, estimates by items of the density so far: the oldest
 * blocks contain few items. Pure.
 */
function verifiedShare(
  { shown: { unit, rows, quarantined }, verified, ...record }: FeedRecord,
  history: Estimate,
  pageSize: number,
): Share {
  const { is_verified, batches, positions, gaps } = verified;
  if (batches !== null) {
    const { requested, waiting } = batches;
    // Verified in part, and not as a whole: how far the list goes is unknown.
    const isUnbounded = !is_verified && positions > 0;
    if (requested === waiting || isUnbounded) return noShare;
    return { share: batches.verified / (requested - waiting), basis: 'known' };
  }
  if (unit === 'ranks') {
    return is_verified ? { share: quarantined > 0 ? 0 : 1, basis: 'known' } : noShare;
  }
  if (!record.has_positions) return noShare;
  if (is_verified && gaps === 0) {
    const open = quarantined === 0 ? 0 : Math.max(1, record.quarantined_positions);
    return { share: open === 0 ? 1 : positions / (positions + open), basis: 'known' };
  }
  if (history.most === null) return noShare;
  const items = (history.likely ?? history.most) * pageSize;
  const share = positions === 0 ? 0 : rows / Math.max(1, rows + items);
  return { share, basis: history.likely === null ? 'at-least' : 'estimated' };
}

/** History is the remaining work of the backfill lane; new items are unknown in advance. */
function leftOf(requests: Estimate, lanes: readonly LaneStatus[], at: Date): FeedStatus['left'] {
  const left = requests.likely ?? requests.most;
  const reading = lanes.find(
    ({ lane, state }) => lane === 'backfill' && (state === 'running' || state === 'quiet'),
  );
  const pace = reading?.pages_per_second ?? 0;
  // Of known history that is read again, nothing is left.
  const ends_in_s = left === null || left === 0 || pace === 0 ? null : Math.round(left / pace);
  return {
    requests,
    ends_in_s,
    ends_at: ends_in_s === null ? null : new Date(at.getTime() + ends_in_s * 1000).toISOString(),
  };
}

/** Requests left: none for a list that is not served, no polls without a `start`. Pure. */
function workLeft(described: readonly Described[], workers: Workers): WorkLeft {
  const arePolled = workers.start > 0;
  let [pollsPerDay, least, most, isKnownWhole] = [0, 0, 0, true];
  for (const { feed, upkeep } of described) {
    if (feed.state === 'unsupported' || isHeld(feed)) continue;
    const { requests } = feed.left;
    if (arePolled) pollsPerDay += upkeep.most ?? upkeep.least;
    least += requests.least;
    most += requests.most ?? 0;
    isKnownWhole &&= requests.most !== null && (!arePolled || upkeep.most !== null);
  }
  return { pollsPerDay, history: isKnownWhole ? { least, most } : null };
}
