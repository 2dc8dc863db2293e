import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { OperationName } from './registry.ts';
import type { Lane } from './tables.ts';

export interface Feed {
  readonly chain_id: number;
  readonly operation: OperationName;
}

/** One lane of a feed: all that a job names. */
export interface FeedLane extends Feed {
  readonly lane: Lane;
}

/** `10/user-operations`. */
export const feedName = ({ chain_id, operation }: Feed) => `${chain_id}/${operation}`;

export type FeedState =
  | 'idle'
  | 'running'
  | 'degraded'
  | 'waiting'
  | 'unauthorized'
  | 'unsupported'
  | 'unordered'
  | 'failed';

export const failingStates: readonly FeedState[] = [
  'degraded',
  'waiting',
  'unauthorized',
  'unsupported',
  'failed',
];

/** As SQL: the feed's rows, of a table or view of schema `etl`. */
export const ofFeed = (feed: Feed) => sql`feed = ${feedName(feed)}`;

export const ofLane = (lane: FeedLane) => sql`${ofFeed(lane)} and lane = ${lane.lane}`;

/** Lets one walk of a feed end at a time: it judges by others' rows. Taken before any row lock. */
export async function lockEnds(
  tx: Transaction,
  { feed }: { readonly feed: string },
): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`ends of ${feed}`}, 0))`);
}
