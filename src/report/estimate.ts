import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName, type Feed } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { Estimates } from '../lists/list.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { operationNames } from '../operations/index.ts';
import { firingsPerDay } from './firings.ts';

/** What is left of a feed's history, and what a day of it costs. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
  readonly settings: FeedSettings;
}

/** How the estimates are to be read. */
export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/**
 * What is known of every feed of these chains, from stored facts alone.
 *
 * @param db null: there are no tables yet
 */
export async function estimateFeeds(
  db: Database | null,
  chains: readonly ChainSettings[],
  { pageSize, at }: ForecastOptions,
): Promise<FeedEstimate[]> {
  const found: FeedEstimate[] = [];
  for (const chain of chains) {
    for (const operation of operationNames) {
      const settings = chain.operations[operation];
      if (settings === undefined) continue;
      const feed: Feed = { chain_id: chain.id, operation };
      const how = { pageSize, pollsPerDay: firingsPerDay(settings.schedule, at) };
      const estimates = await kindOf(operation).estimate(db, feed, settings, how);
      found.push({ ...feed, feed: feedName(feed), settings, ...estimates });
    }
  }
  return found;
}
