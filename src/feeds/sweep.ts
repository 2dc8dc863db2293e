import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { Cursor, Scope } from '../operations/operation.ts';
import { entryAbove, gapsOf, hasCoverage, liveFloor, type Gap } from './coverage.ts';
import type { Feed } from './feed.ts';
import { dueDepthMs } from './resweep.ts';
import type { TickRow } from './tick.ts';

/** A walk to begin: what it covers, and the cursor it starts from; null is the head. */
export interface PlannedWalk {
  readonly scope: Scope;
  /** The block that it goes past before it ends; null: to the end, or to the tick's bounds. */
  readonly floor: number | null;
  /** How far below the covered top a live walk goes, in ms. */
  readonly depthMs?: number;
  readonly cursor: Cursor | null;
}

/** The user's bounds of a tick, as they bound each of its walks. */
export function boundsOf({ scope: { since, max_pages } }: TickRow): Scope {
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

/**
 * The live lane's walk: from the head down to the floor, once a tick. It goes on past rows that
 * are known, because others may have arrived between them.
 */
export async function planLiveWalk(
  tx: Transaction,
  tick: TickRow,
  at: Date,
): Promise<PlannedWalk | null> {
  const begun = await walksOf(tx, tick);
  if (begun.length > 0) return null;
  const feed = feedOf(tick);
  const depthMs = await dueDepthMs(tx, feed, tick.scope.overlap_ms ?? 0, at);
  const floor = await liveFloor(tx, feed, depthMs);
  return floor === null ? null : { scope: boundsOf(tick), floor, depthMs, cursor: null };
}

/**
 * The backfill lane's next walk: the whole list while nothing is covered, then the newest hole
 * that this tick has not tried, entered from the nearest stored cursor above it. A hole that a walk
 * of this tick was to close is not tried again by the same tick, so a tick ends.
 */
export async function planBackfillWalk(
  tx: Transaction,
  tick: TickRow,
): Promise<PlannedWalk | null> {
  const begun = await walksOf(tx, tick);
  const feed = feedOf(tick);
  if (!(await hasCoverage(tx, feed))) {
    return begun.length === 0 ? { scope: boundsOf(tick), floor: null, cursor: null } : null;
  }
  const gaps = await gapsOf(tx, feed);
  const next = gaps.find((gap) => !begun.some((walk) => tried(walk, gap)));
  if (next === undefined) return null;
  const refused = begun.some(({ state, floor }) => state === 'abandoned' && floor === next.from);
  return {
    scope: boundsOf(tick),
    floor: next.from === 0 ? null : next.from,
    cursor: refused ? null : await entryAbove(tx, feed, next),
  };
}

interface BegunWalk extends Record<string, unknown> {
  readonly state: string;
  readonly floor: number;
  readonly from_head: boolean;
}

/** A refused cursor leaves one more way in: the head. */
const tried = (walk: BegunWalk, gap: Gap) =>
  walk.floor === gap.from && (walk.state !== 'abandoned' || walk.from_head);

async function walksOf(tx: Transaction, tick: TickRow): Promise<BegunWalk[]> {
  const { rows } = await tx.execute<BegunWalk>(sql`
    select state, coalesce(floor, 0)::float8 as floor, from_head
    from etl.walks
    where tick_id = ${tick.id}
  `);
  return rows;
}

const feedOf = ({ chain_id, operation }: TickRow): Feed => ({
  chain_id,
  operation: operation as Feed['operation'],
});
