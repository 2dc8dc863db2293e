import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { byKind, kindOf } from '../lists/index.ts';
import type { Estimates } from '../lists/list.ts';
import { operationNames, operations } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { firingsPerDay } from './schedule.ts';

/** A feed, and the settings that it is estimated by. */
interface WantedFeed extends Feed {
  readonly settings: FeedSettings;
}

/** What is left of a feed's history, and what a day of it costs. */
export interface FeedEstimate extends WantedFeed, Estimates {
  readonly feed: string;
}

/** How the estimates are to be read. */
export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/** The feeds of some chains of a configuration, in the order in which people read of them. */
const feedsOf = (chains: readonly ChainSettings[]): WantedFeed[] =>
  chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      return settings === undefined ? [] : [{ chain_id: chain.id, operation, settings }];
    }),
  );

/**
 * Estimates every feed of these chains from stored facts alone.
 *
 * @param db null: there are no tables yet
 */
export const estimateFeeds = (
  db: Database | null,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedEstimate[]> => estimate(db, feedsOf(chains), options);

/** The same of feeds with their settings. */
export async function estimate(
  db: Database | null,
  wanted: readonly WantedFeed[],
  { pageSize, at }: ForecastOptions,
): Promise<FeedEstimate[]> {
  const facts = db === null ? new Map<string, unknown>() : await readFacts(db, wanted);
  return wanted.map((one) => {
    const { operation, settings } = one;
    const feed = feedName(one);
    const estimates = kindOf(operation).estimate(facts.get(feed) ?? null, settings, {
      unit: operations[operation].order?.unit ?? 'blocks',
      pageSize,
      pollsPerDay: firingsPerDay(settings.schedule, at),
    });
    return { ...one, feed, ...estimates };
  });
}

/** What each kind of list estimates from: of all feeds in one statement. */
async function readFacts(
  db: Database,
  wanted: readonly WantedFeed[],
): Promise<ReadonlyMap<string, unknown>> {
  const feeds = wanted.map((one) => ({ feed: feedName(one), settings: one.settings }));
  const { rows } = await db.execute<{ feed: string; facts: unknown }>(sql`/* estimates */
    select feeds.feed, ${byKind(({ facts }) => sql`${facts}::json`)} as facts
    from (
      select known.chain_id, known.operation, feed, known.kind, known.frontier, wanted.settings
      from json_to_recordset(${JSON.stringify(feeds)}::json) as wanted(feed text, settings jsonb)
      join etl.feeds as known using (feed)
    ) as feeds
  `);
  return new Map(rows.map(({ feed, facts }) => [feed, facts]));
}
