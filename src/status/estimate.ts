import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import { execute, type Database } from '../db/transaction.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { byKind, kindOf } from '../lists/index.ts';
import type { Estimates, FeedSettings } from '../lists/list.ts';
import type { OperationName } from '../lists/registry.ts';
import { feedsIn } from '../sync/feeds.ts';
import { firingsPerDay } from './schedule.ts';
import { z } from 'zod';

/** The history left of a feed and the cost of a day, by these settings. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
  readonly settings: FeedSettings;
}

export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/** What a feed is estimated by. */
interface Known {
  readonly operation: OperationName;
  readonly settings: FeedSettings;
  /** What its kind stored; null: never registered. */
  readonly facts: unknown;
}

/** A feed's work left and daily cost. Pure. */
export const estimateOf = (
  { operation, settings, facts }: Known,
  { pageSize, at }: ForecastOptions,
): Estimates =>
  kindOf(operation).estimate(facts, settings, {
    pageSize,
    pollsPerDay: firingsPerDay(settings.schedule, at),
  });

/** Estimates every feed of these chains in one statement, in display order; `db` null: no tables yet. */
export async function estimateFeeds(
  db: Database | null,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedEstimate[]> {
  const feeds = feedsIn(chains).map(({ chain: { id: chain_id }, ...own }) => ({
    feed: feedName({ chain_id, ...own }),
    chain_id,
    ...own,
  }));
  const stored = db === null ? new Map<string, unknown>() : await readFacts(db, feeds);
  return feeds.map((feed) => {
    const facts = stored.get(feed.feed) ?? null;
    return { ...feed, ...estimateOf({ ...feed, facts }, options) };
  });
}

async function readFacts(db: Database, wanted: readonly Pick<FeedEstimate, 'feed' | 'settings'>[]) {
  const rows = await execute(db).rows(() =>
    z.object({ feed: z.string(), facts: z.unknown() }),
  )`/* estimates */
    select feed, ${byKind(({ facts }) => sql`${facts}::json`)} as facts
    from (
      select known.chain_id, known.operation, feed, known.kind, known.latest_batch, wanted.settings
      from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(feed text, settings jsonb)
      join etl.feeds as known using (feed)
    ) as feeds
  `;
  return new Map(rows.map(({ feed, facts }) => [feed, facts]));
}

export const sum = (counts: readonly number[]): number =>
  counts.reduce((total, each) => total + each, 0);

/** The sum of counts; null: one of them is unknown. */
export const sumKnown = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((total, each) => (total === null || each === null ? null : total + each), 0);
