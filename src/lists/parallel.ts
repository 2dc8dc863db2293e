import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';
import { type Feed, feedName, ofFeed } from './feed.ts';

/** Several walks of a feed run at once unless its settings say otherwise. */
const defaultParallel = 4;

/**
 * How many walks of a lane run at once, where more than one can.
 *
 * @throws when the feed was never registered
 */
export async function parallelOf(db: Pick<Database, 'execute'>, feed: Feed): Promise<number> {
  const { rows } = await db.execute<{ parallel: unknown }>(
    sql`select settings -> 'parallel' as parallel from etl.feeds where ${ofFeed(feed)}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`feed ${feedName(feed)} is not registered`);
  return typeof row.parallel === 'number' ? row.parallel : defaultParallel;
}

/** More walks of one lane at once than any plan and round trip call for. */
export const mostWalks = 32;

/** What one process writes, in pages a second: more walks than fill that only wait for each other. */
const writtenPerSecond = 100;

/** A walk's own time for a page beside the round trip, as a part of it, until the next request leaves. */
const ownPart = 0.5;

/** Newest pages that show the present round trip. */
const recentPages = 20;

/** What decides how many walks pay. */
interface Pace {
  /** What the key may do a second, in requests. */
  readonly perSecond: number;
  /** How long an answer takes, in ms; null: not known. */
  readonly tripMs: number | null;
  /** Lanes that read history at once, and share the rate. */
  readonly lanes: number;
}

/** How many walks of one feed use up its part of a rate: one walk waits for each answer. */
function walksThatPay({ perSecond, tripMs, lanes }: Pace): number {
  const pages = Math.min(perSecond, writtenPerSecond) / Math.max(1, lanes);
  const walks = (pages * (1 + ownPart) * (tripMs ?? 0)) / 1000;
  return Math.min(mostWalks, Math.max(1, Math.ceil(walks)));
}

/**
 * How many walks of a feed are called for at once, by the key's rate and the round trip that was measured
 * last; never more than the feed's setting `parallel`.
 */
export async function walksCalledFor(
  db: Pick<Transaction, 'execute'>,
  feed: Feed,
): Promise<number> {
  const { rows } = await db.execute<
    Record<'rate' | 'trip_ms' | 'lanes' | 'parallel', number | null>
  >(
    sql`
      select (
               select least(requests_per_second, service_limit)
               from etl.budget
               order by updated_at desc
               limit 1
             ) as rate,
             (
               -- Three of four came later: one that hung says nothing of the others, and many are slow only
               -- because this process was busy, which more walks would make worse.
               select percentile_cont(0.25) within group (order by latency_ms)
               from (select latency_ms from etl.pages order by id desc limit ${recentPages}) as newest
             ) as trip_ms,
             (select count(*)::float8 from etl.runs where state = 'open' and lane = 'backfill') as lanes,
             (select (settings ->> 'parallel')::float8 from etl.feeds where ${ofFeed(feed)}) as parallel
    `,
  );
  const { rate, trip_ms: tripMs, lanes, parallel } = rows[0] ?? {};
  const pay = walksThatPay({ perSecond: rate ?? 0, tripMs: tripMs ?? null, lanes: lanes ?? 1 });
  return Math.min(pay, parallel ?? pay);
}
