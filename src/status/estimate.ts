import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { byKind, kindOf } from '../lists/index.ts';
import type { Estimates } from '../lists/list.ts';
import { isOperation, operationNames, operations } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { firingsPerDay } from './schedule.ts';

/** The history left of a feed and the cost of a day, by these settings. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
  readonly settings: FeedSettings;
}

/** A feed to estimate, also of a list unknown to this version; settings null: those registered last. */
interface WantedFeed extends Pick<Feed, 'chain_id'> {
  readonly operation: string;
  readonly settings: FeedSettings | null;
}

export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/** A feed's work left and daily cost by these facts of its kind; null: a newer version's list. Pure. */
export function estimateOf(
  { operation, settings, facts }: StoredFacts & { readonly operation: string },
  { pageSize, at }: ForecastOptions,
): Estimates | null {
  if (!isOperation(operation)) return null;
  return kindOf(operation).estimate(facts, settings, {
    unit: operations[operation].order?.unit ?? 'blocks',
    pageSize,
    pollsPerDay: firingsPerDay(settings.schedule, at),
  });
}

interface StoredFacts {
  readonly settings: FeedSettings;
  /** Null: never registered. */
  readonly facts: unknown;
}

/** Estimates every feed of these chains, in display order; `db` null: no tables yet. */
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

/** Estimates feeds from the facts of each kind, in one statement; `db` null: no tables yet. */
export async function estimate(
  db: Database | null,
  wanted: readonly WantedFeed[],
  options: ForecastOptions,
): Promise<FeedEstimate[]> {
  const known = wanted.flatMap(({ chain_id, operation, settings }) =>
    isOperation(operation)
      ? [{ feed: feedName({ chain_id, operation }), chain_id, operation, settings }]
      : [],
  );
  const { rows = [] } = db === null ? {} : await readFacts(db, known);
  const stored = new Map(rows.map((row) => [row.feed, row]));
  return known.flatMap((one) => {
    const { settings = one.settings, facts = null } = stored.get(one.feed) ?? {};
    const found = settings && estimateOf({ ...one, settings, facts }, options);
    return found ? [{ ...one, settings, ...found }] : [];
  });
}

const readFacts = (db: Database, wanted: readonly object[]) =>
  db.execute<StoredFacts & { feed: string } & Record<string, unknown>>(sql`/* estimates */
    select feed, settings, ${byKind(({ facts }) => sql`${facts}::json`)} as facts
    from (
      select known.chain_id, known.operation, feed, known.kind, known.latest_batch,
             coalesce(wanted.settings, known.settings) as settings
      from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(feed text, settings jsonb)
      join etl.feeds as known using (feed)
    ) as feeds
  `);

export const sum = (counts: readonly number[]): number =>
  counts.reduce((total, each) => total + each, 0);

/** The sum of counts; null: one of them is unknown. */
export const sumKnown = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((total, each) => (total === null || each === null ? null : total + each), 0);
