import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { describeDatabaseError, isAway } from '../db/failure.ts';
import { demandPrimary, isPrepared } from '../db/state.ts';
import type { Database } from '../db/transaction.ts';
import { presentWorkers, schedulesSet } from '../sync/workers.ts';
import { creditsOf, readCredits } from './credits.ts';
import { sum } from './estimate.ts';
import { readFeeds, readLanes } from './facts.ts';
import { describeFeed, workLeft } from './feeds.ts';
import { isAtWork } from './lanes.ts';
import { earliest, lastPageAt, latest, type OverallFacts, reasonsOf } from './reasons.ts';
import { headSchedule } from './schedule.ts';
import type { FeedStatus, Reason, StatusDocument } from './schema.ts';

/** Reads the status in six statements, for any number of feeds. */
export async function readStatus(db: Database, pageSize: number): Promise<StatusDocument> {
  const workers = await presentWorkers(db);
  const { at, keys } = await readCredits(db);
  const records = await readFeeds(db);
  const lanes = Map.groupBy(await readLanes(db), ({ feed }) => feed);
  const schedules = await schedulesSet(db);
  const described = records.map((record) => {
    const { feed } = record.shown;
    const own = { record, lanes: lanes.get(feed) ?? [], set: headSchedule(schedules, feed) };
    return describeFeed(own, { pageSize, at, workers });
  });
  const credits = creditsOf(keys, workLeft(described, workers), at);
  return documentOf({ at, workers, credits, feeds: described.map(({ feed }) => feed) });
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
    totals: totalsOf(feeds),
    credits,
    workers,
    next_poll_at: earliest(feeds.map(({ poll }) => poll.next_at)),
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
function stops({ code, feeds, severity }: Reason, facts: OverallFacts): boolean {
  if (isAtWork(facts.workers)) return false;
  if (code === 'paused') return true;
  return (
    code === 'no-worker' ||
    (code === 'pending' &&
      severity !== 'info' &&
      (feeds.length === 0 || feeds.length === facts.feeds.length))
  );
}

/** The banner: the reason, with its feeds unless it concerns all. */
function headline(state: Overall['state'], reason: Reason, { feeds: all }: OverallFacts): Overall {
  const { code, feeds, sentence, command } = reason;
  const isOfAll =
    feeds.length === 0 ||
    feeds.length === all.length ||
    code === 'reading' ||
    (code === 'no-worker' && state === 'stopped');
  const some = feeds.length === 1 ? feeds[0] : `${feeds.length} of ${all.length} feeds`;
  const text = isOfAll ? sentence : `${some}: ${sentence}`;
  return { state, sentence: text, since: sinceOf(reason, all), command };
}

/** Since when; null: unknown. What blocks progress began after the last page. */
function sinceOf(
  { code, blocks_readiness: isBlocking, feeds }: Reason,
  all: readonly FeedStatus[],
) {
  const isOfAll = feeds.length === 0 || code === 'no-worker';
  const own = isOfAll ? all : all.filter(({ feed }) => feeds.includes(feed));
  if (code === 'source-silent')
    return latest(own.map(({ newest_item }) => newest_item?.at ?? null));
  return isBlocking ? lastPageAt(own) : null;
}

/** Each feed with the sentence of its most severe reason, or its own. Pure. */
const explained = (facts: OverallFacts): FeedStatus[] =>
  facts.feeds.map((feed) => {
    const own = reasonsOf({ ...facts, feeds: [feed] });
    const first = own.find(({ severity, feeds }) => severity !== 'info' && feeds.length > 0);
    return { ...feed, sentence: first?.sentence ?? feed.sentence };
  });

function totalsOf(feeds: readonly FeedStatus[]): StatusDocument['totals'] {
  const shares = feeds.flatMap(({ verified: { share } }) => share ?? []);
  return {
    rows: sum(feeds.map(({ rows }) => rows)),
    rows_today: sum(feeds.map(({ rows_today }) => rows_today)),
    newest_item_at: latest(feeds.map(({ newest_item }) => newest_item?.at ?? null)),
    verified_share: shares.length === 0 ? null : sum(shares) / shares.length,
  };
}

/** The status of a database without tables. */
export const emptyStatus = (at: Date): StatusDocument =>
  documentOf({
    at,
    workers: { start: 0, once: 0 },
    credits: creditsOf([], { pollsPerDay: 0, history: null }, at),
    feeds: [],
  });

/** The status after an error. A database that refuses or is slow counts as reachable. */
export function outageStatus(at: Date, error: unknown): StatusDocument {
  const [state, what] = isAway(error)
    ? (['stopped', 'is unreachable'] as const)
    : (['degraded', 'did not report the status'] as const);
  const sentence = `The database ${what}: ${describeDatabaseError(error)}.`;
  const reason = { code: 'database-unreachable', severity: 'warning', sentence } as const;
  return {
    ...emptyStatus(at),
    workers: null,
    reasons: [{ ...reason, blocks_readiness: true, feeds: [], advice: null, command: null }],
    overall: { state, sentence, since: null, command: null },
  };
}

/** Whether the database answered; otherwise there are no lists and credits. */
export const isKnown = ({ reasons }: Pick<StatusDocument, 'reasons'>): boolean =>
  !reasons.some(({ code }) => code === 'database-unreachable');

/** The status of a database, also of one without tables. @throws StandbyError, errors of Postgres */
export async function statusNow(pool: Pool, pageSize: number): Promise<StatusDocument> {
  await demandPrimary(pool);
  // Reading the status changes nothing, so it creates no tables.
  if (!(await isPrepared(pool))) return emptyStatus(new Date());
  return readStatus(drizzle(pool), pageSize);
}

/** The status; an outage is a status too. */
export const statusOrOutage = (
  pool: () => Promise<Pool>,
  pageSize: number,
): Promise<StatusDocument> =>
  pool()
    .then((ready) => statusNow(ready, pageSize))
    .catch((error: unknown) => outageStatus(new Date(), error));
