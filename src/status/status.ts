import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { describeDatabaseError, isAway } from '../db/failure.ts';
import { isPrepared } from '../db/prepared.ts';
import { readStandby, type Standby } from '../db/standby.ts';
import type { Database } from '../db/transaction.ts';
import { presentWorkers, schedulesSet } from '../sync/workers.ts';
import { creditsOf, readCredits } from './credits.ts';
import { estimateOf, sum } from './estimate.ts';
import { readFeeds, readLanes } from './facts.ts';
import { describeFeed, type Reading, workLeft } from './feeds.ts';
import { explained, overallOf } from './overall.ts';
import { earliest, latest, type OverallFacts, reasonsOf } from './reasons.ts';
import { headSchedule } from './schedule.ts';
import type { FeedStatus, StatusDocument } from './schema.ts';

/** Reads the status in six statements, for any number of feeds. */
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
  const lanes = Map.groupBy(await readLanes(db), ({ feed }) => feed);
  const schedules = await schedulesSet(db);
  // By the settings of the feeds' last registration.
  const estimates = new Map(
    records.map(({ shown: { feed, operation }, settings, facts }) => [
      feed,
      estimateOf({ operation, settings, facts }, reading),
    ]),
  );
  const feeds = records.map((record) => {
    const { feed } = record.shown;
    const [own = [], set] = [lanes.get(feed), headSchedule(schedules, feed)];
    return describeFeed(
      { record, lanes: own, estimate: estimates.get(feed) ?? null, set },
      reading,
    );
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
export const statusOrOutage = (
  pool: () => Promise<Pool>,
  pageSize: number,
): Promise<StatusDocument> =>
  pool()
    .then((ready) => statusNow(ready, pageSize))
    .catch((error: unknown) => outageStatus(new Date(), error));
