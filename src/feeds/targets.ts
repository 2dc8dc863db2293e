import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { boundsOn, kindOf } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { operationNames, type OperationName } from '../operations/index.ts';

/** Bounds that a command named for a feed, as the settings that they take the place of. */
export type FeedTarget = Readonly<Record<string, unknown>>;

/** What a command's bounds make the target of a feed; null: they concern it not, or its settings name bounds. */
export function targetOf(
  operation: OperationName,
  settings: FeedSettings,
  bounds: ScopeBounds,
): FeedTarget | null {
  const kind = kindOf(operation);
  if (kind.isBounded(settings)) return null;
  const target = kind.target(settings, boundsOn(operation, bounds));
  return target === null ? null : { ...target };
}

/**
 * The chains with the target of each feed in its settings: what this command names, else what an earlier
 * one did. Where the configuration names bounds, they are the target.
 *
 * @param bounds what this command names
 */
export async function withTargets(
  db: Database,
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): Promise<ChainSettings[]> {
  const stored = await storedTargets(db);
  return chains.map(({ operations, ...chain }) => ({
    ...chain,
    operations: Object.fromEntries(
      operationNames.flatMap((operation) => {
        const settings = operations[operation];
        if (settings === undefined) return [];
        const feed = feedName({ chain_id: chain.id, operation });
        const earlier = kindOf(operation).isBounded(settings) ? undefined : stored.get(feed);
        const target = targetOf(operation, settings, bounds) ?? earlier;
        return [[operation, { ...settings, ...target }]];
      }),
    ),
  }));
}

/** The targets of feeds that a command named, by the feed's name. */
async function storedTargets(db: Database): Promise<ReadonlyMap<string, FeedTarget>> {
  const { rows } = await db.execute<{ feed: string; target: FeedTarget }>(
    sql`select feed, target from etl.feeds where target is not null`,
  );
  return new Map(rows.map(({ feed, target }) => [feed, target]));
}
