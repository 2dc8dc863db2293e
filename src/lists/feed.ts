import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { OperationName } from './registry.ts';
import type { Lane } from './tables.ts';

/** An operation on a chain: the thing a person schedules and watches. */
export interface Feed {
  readonly chain_id: number;
  readonly operation: OperationName;
}

/** One lane of a feed: what a job names, and never more than that. */
export interface FeedLane extends Feed {
  readonly lane: Lane;
}

/** `10/user-operations`. */
export const feedName = ({ chain_id, operation }: Feed) => `${chain_id}/${operation}`;

/** What people and schedules see of a feed. */
export type FeedState =
  | 'idle'
  | 'running'
  | 'degraded'
  | 'waiting'
  | 'unauthorized'
  | 'unsupported'
  | 'unordered'
  | 'failed';

/** States that a feed keeps until it succeeds again. */
export const failingStates: readonly FeedState[] = [
  'degraded',
  'waiting',
  'unauthorized',
  'unsupported',
  'failed',
];

/** As SQL: the feed's rows, of a table or view of schema `etl`. */
export const ofFeed = (feed: Feed) => sql`feed = ${feedName(feed)}`;

/** As SQL: those of one of its lanes. */
export const ofLane = (lane: FeedLane) => sql`${ofFeed(lane)} and lane = ${lane.lane}`;

/**
 * Lets one walk of a feed end at a time: what each concludes rests on its neighbours' rows. Anyone who
 * else changes what ends conclude takes it too, before any row.
 *
 * @param walk the feed by its name, `<chain>/<operation>`
 */
export async function lockEnds(
  tx: Transaction,
  { feed }: { readonly feed: string },
): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`ends of ${feed}`}, 0))`);
}
