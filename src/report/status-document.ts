import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import { presentWorkers } from '../sync/takeover.ts';
import {
  creditsToday,
  forecastCredits,
  type KeyCredits,
  sumCredits,
  type WorkLeft,
} from './credits.ts';
import { reportFeeds } from './feed-report.ts';
import { judge, type VerdictFacts } from './verdict.ts';

const exit = { code: 0, reason: 'done' } as const;

interface DescribeOptions {
  readonly pageSize: number;
  /** What a standby tells of itself; null on a primary. */
  readonly standby: StatusDocument['standby'];
}

/** How all is, from what is stored. */
export async function describeStatus(
  db: Database,
  { pageSize, standby }: DescribeOptions,
): Promise<StatusDocument> {
  const at = await presentTime(db);
  const workers = standby === null ? await presentWorkers(db) : null;
  const keys = await creditsToday(db);
  const { feeds, work } = await reportFeeds(db, { pageSize, at, workers });
  const credits = creditsOf(keys, work, at);
  return statusOf(at, { standby, workers, credits, feeds: [...feeds] });
}

/** Where the database has no tables yet: nothing was ever read. */
export const emptyStatus = (at: Date, standby: StatusDocument['standby']): StatusDocument =>
  statusOf(at, {
    standby,
    workers: standby === null ? { start: 0, once: 0 } : null,
    credits: creditsOf([], { pollsPerDay: 0, history: null }, at),
    feeds: [],
  });

/** Where the database does not answer; whoever watches goes on. */
export const awayStatus = (at: Date, message: string): StatusDocument => ({
  ...unseenStatus(at),
  verdict: { kind: 'database-away', reasons: [{ kind: 'database-away', message }] },
});

/** Where the database answers, and not what it was asked: work may go on all the same. */
export const unreadableStatus = (at: Date, message: string): StatusDocument => ({
  ...unseenStatus(at),
  verdict: { kind: 'unknown', reasons: [{ kind: 'unreadable', message }] },
});

const unseenStatus = (at: Date): StatusDocument => ({ ...emptyStatus(at, null), workers: null });

/** Whether the database told it: the lists and credits of another one are those of nobody. */
export const isSeen = ({ verdict: { kind } }: Pick<StatusDocument, 'verdict'>): boolean =>
  kind !== 'database-away' && kind !== 'unknown';

function statusOf(at: Date, facts: VerdictFacts): StatusDocument {
  const polls = facts.feeds.flatMap(({ next_poll_at }) => next_poll_at ?? []);
  return {
    schema: 'explorer-etl/status/1',
    exit,
    as_of: at.toISOString(),
    verdict: judge(facts),
    ...facts,
    next_poll_at: polls.toSorted()[0] ?? null,
  };
}

/** All times of the tables are the database's, so the present is too. */
async function presentTime(db: Database): Promise<Date> {
  const { rows } = await db.execute<{ ms: number }>(
    sql`select (1000 * extract(epoch from clock_timestamp()))::float8 as ms`,
  );
  return new Date(rows[0]?.ms ?? Date.now());
}

function creditsOf(
  keys: readonly KeyCredits[],
  work: WorkLeft,
  at: Date,
): StatusDocument['credits'] {
  const sums = sumCredits(keys);
  const left = keys.length === 0 ? null : sums.left;
  const forecast = forecastCredits({ at, ...sums, left, ...work });
  return { ...sums, forecast, keys: [...keys] };
}
