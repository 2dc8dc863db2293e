import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { describeDatabaseError, isAway } from '../db/failure.ts';
import { isPrepared } from '../db/prepared.ts';
import { readStandby, type Standby } from '../db/standby.ts';
import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { laneHolders, presentWorkers, schedulesSet } from '../sync/workers.ts';
import { creditsOf, readCredits } from './credits.ts';
import { estimate } from './estimate.ts';
import { readFeeds, readLanes, readPaces, readVerified } from './facts.ts';
import { describeFeed, type FeedFacts, type Reading, workLeft } from './feeds.ts';
import { laneStatus, viewOf } from './lanes.ts';
import { explained, overallOf } from './overall.ts';
import { earliest, latest, type OverallFacts, reasonsOf } from './reasons.ts';
import { headSchedule } from './schedule.ts';
import type { FeedStatus, StatusDocument } from './schema.ts';

/** Reads the status in ten statements, for any number of feeds. */
export async function readStatus(
  db: Database,
  { pageSize, standby }: { readonly pageSize: number; readonly standby: Standby | null },
): Promise<StatusDocument> {
  const workers = standby === null ? await presentWorkers(db) : null;
  const { at, keys } = await readCredits(db);
  const { feeds, estimates } = await feedsNow(db, { pageSize, at, workers });
  const credits = creditsOf(keys, workLeft(feeds, estimates, workers), at);
  return documentOf({ at, standby, workers, credits, feeds });
}

/** Every feed, without the reasons for its state. */
async function feedsNow(db: Database, reading: Reading) {
  const records = await readFeeds(db);
  const laneRecords = Map.groupBy(await readLanes(db), ({ feed }) => feed);
  const holders = await laneHolders(db);
  const verified = await readVerified(db);
  const paces = await readPaces(db);
  const schedules = await schedulesSet(db);
  // By the settings of the feeds' last registration.
  const wanted = records.map(({ shown, settings }) => ({ ...shown, settings }));
  const estimated = await estimate(db, wanted, reading);
  const estimates = new Map(estimated.map((one) => [one.feed, one]));
  const view = viewOf(reading.workers);
  const feeds = records.map((record) => {
    const { feed } = record.shown;
    const own = laneRecords.get(feed) ?? [];
    const held = holders.filter(({ lane }) => feedName(lane) === feed);
    const facts: FeedFacts = {
      record,
      lanes: own.map((lane) => {
        const holder = held.find((one) => one.lane.lane === lane.shown.lane);
        return laneStatus(lane, holder, view);
      }),
      rows_today: sumOf(own.map(({ rows_today }) => rows_today)),
      verified: verified.get(feed) ?? null,
      estimate: estimates.get(feed) ?? null,
      pace: paces.get(feed) ?? null,
      set: headSchedule(schedules, feed),
    };
    return describeFeed(facts, reading);
  });
  return { feeds, estimates };
}

export function documentOf(facts: OverallFacts): StatusDocument {
  const { at, standby, workers, credits } = facts;
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
    standby,
    next_poll_at: earliest(feeds.map(({ poll }) => poll.next_at)),
    feeds,
  };
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

function totalsOf(feeds: readonly FeedStatus[]): StatusDocument['totals'] {
  const shares = feeds.flatMap(({ verified: { share } }) => share ?? []);
  return {
    rows: sumOf(feeds.map(({ rows }) => rows)),
    rows_today: sumOf(feeds.map(({ rows_today }) => rows_today)),
    newest_item_at: latest(feeds.map(({ newest_item }) => newest_item?.at ?? null)),
    verified_share: shares.length === 0 ? null : sumOf(shares) / shares.length,
  };
}

/** The status of a database without tables. */
export const emptyStatus = (at: Date, standby: Standby | null): StatusDocument =>
  documentOf({
    at,
    standby,
    workers: standby === null ? { start: 0, once: 0 } : null,
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
    ...emptyStatus(at, null),
    workers: null,
    reasons: [{ ...reason, blocks_readiness: true, feeds: [], advice: null, command: null }],
    overall: { state, sentence, since: null, command: null },
  };
}

/** Whether the database answered; otherwise there are no lists and credits. */
export const isKnown = ({ reasons }: Pick<StatusDocument, 'reasons'>): boolean =>
  !reasons.some(({ code }) => code === 'database-unreachable');

/** The status of a database, also of a standby or one without tables. @throws errors of Postgres */
export async function statusNow(pool: Pool, pageSize: number): Promise<StatusDocument> {
  const standby = await readStandby(pool);
  // Reading the status changes nothing, so it creates no tables.
  if (!(await isPrepared(pool))) return emptyStatus(new Date(), standby);
  return readStatus(drizzle(pool), { pageSize, standby });
}

/** The status; an outage is a status too. */
export const statusOrOutage = (pool: Pool, pageSize: number): Promise<StatusDocument> =>
  statusNow(pool, pageSize).catch((error: unknown) => outageStatus(new Date(), error));
