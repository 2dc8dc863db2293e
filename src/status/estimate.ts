import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { byKind, kindOf } from '../lists/index.ts';
import type { Estimates } from '../lists/list.ts';
import { operationNames, operations } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { firingsPerDay } from './schedule.ts';

/** The history left of a feed and the cost of a day, by these settings. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
  readonly settings: FeedSettings;
}

/** A feed to estimate; only a newer version may know its list. */
type WantedFeed = Pick<FeedEstimate, 'chain_id' | 'settings'> & { readonly operation: string };

export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/** Estimates every feed of these chains, in display order. */
export const estimateFeeds = (
  db: Database | null,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedEstimate[]> => {
  const feeds = chains.flatMap(({ id: chain_id, operations: wanted }) =>
    operationNames.flatMap((operation) => {
      const settings = wanted[operation];
      return settings === undefined ? [] : [{ chain_id, operation, settings }];
    }),
  );
  return estimate(db, feeds, options);
};

/** Estimates feeds of known lists from stored facts; `db` null: no tables yet. */
export async function estimate(
  db: Database | null,
  wanted: readonly WantedFeed[],
  { pageSize, at }: ForecastOptions,
): Promise<FeedEstimate[]> {
  const known = wanted.flatMap(({ chain_id, operation: name, settings }) => {
    const operation = operationNames.find((one) => one === name);
    if (operation === undefined) return [];
    return [{ feed: feedName({ chain_id, operation }), chain_id, operation, settings }];
  });
  const facts = db === null ? new Map<string, unknown>() : await readFacts(db, known);
  return known.map((one) => {
    const { feed, operation, settings } = one;
    const estimates = kindOf(operation).estimate(facts.get(feed) ?? null, settings, {
      unit: operations[operation].order?.unit ?? 'blocks',
      pageSize,
      pollsPerDay: firingsPerDay(settings.schedule, at),
    });
    return { ...one, ...estimates };
  });
}

/** The facts of each kind of list, for all feeds in one statement. */
async function readFacts(
  db: Database,
  wanted: readonly Pick<FeedEstimate, 'feed' | 'settings'>[],
): Promise<ReadonlyMap<string, unknown>> {
  const { rows } = await db.execute<{ feed: string; facts: unknown }>(sql`/* estimates */
    select feeds.feed, ${byKind(({ facts }) => sql`${facts}::json`)} as facts
    from (
      select known.chain_id, known.operation, feed, known.kind, known.latest_batch, wanted.settings
      from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(feed text, settings jsonb)
      join etl.feeds as known using (feed)
    ) as feeds
  `);
  return new Map(rows.map(({ feed, facts }) => [feed, facts]));
}

/** The sum of counts; null: one of them is unknown. */
export const sumKnown = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
