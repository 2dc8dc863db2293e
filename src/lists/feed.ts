import type { OperationName } from '../operations/index.ts';
import { sql } from 'drizzle-orm';
import type { Lane } from '../walk/tables.ts';

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

/** What people and schedules see of a feed; the table of design section 7 leads from one to another. */
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

/** Whose feed it is, whatever else is told. */
export type OfFeed = { readonly [Key in keyof Feed]: string | number };

/** As SQL: the feed's rows. */
export const ofFeed = ({ chain_id, operation }: OfFeed) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;
