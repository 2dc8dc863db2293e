import { sql } from 'drizzle-orm';
import { hasRows, type Queryable, valueOf } from '../../db/query.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { RunOf } from '../list.ts';
import type { Cursor, ListOrder, NewestFirstWalk } from '../operation.ts';
import { orderOf, placeColumns } from '../positions.ts';
import { operations } from '../registry.ts';

/** A range of blocks that no finished page verifies complete; both ends belong to it. */
export interface Gap extends Record<string, unknown> {
  readonly from: number;
  readonly to: number;
}

/** No operation is older: the first ERC-4337 entry point the service lists was deployed then. */
export const firstOperationAt = Date.UTC(2023, 2, 1);

/** Whether anything of the feed is covered yet. */
export const hasCoverage = (tx: Queryable, feed: Feed): Promise<boolean> =>
  hasRows(
    tx,
    sql`select from etl.walks where ${ofFeed(feed)} and top is not null order by top limit 1`,
  );

/** Where the live lane last ended at its floor: what lies above was read by that walk. */
export interface LiveEnd extends Record<string, unknown> {
  readonly cursor: Cursor;
  readonly bottom: number;
}

/** Null where no live walk has ended at its floor yet. */
export async function liveEnd(tx: Queryable, feed: Feed): Promise<LiveEnd | null> {
  const { rows } = await tx.execute<LiveEnd>(sql`
    select cursor, bottom::float8 as bottom
    from etl.walks
    where ${ofFeed(feed)} and lane = 'live' and state = 'finished' and reason = 'floor'
      and cuts = 0 and cursor is not null and bottom is not null
    order by started_at desc, id desc
    limit 1
  `);
  return rows[0] ?? null;
}

/** The lowest block that is covered; 0 where the list's end was reached. */
export const lowestCovered = async (tx: Queryable, feed: Feed): Promise<number> =>
  (await valueOf<number>(
    tx,
    sql`select lower(covered)::float8 from etl.feed_coverage where ${ofFeed(feed)}`,
  )) ?? 0;

/** The gaps in a feed's coverage, the newest first. */
export async function gapsOf(tx: Queryable, feed: Feed): Promise<Gap[]> {
  const { rows } = await tx.execute<Gap>(sql`
    select lower(gap)::float8 as "from", (upper(gap) - 1)::float8 as "to"
    from etl.feed_gaps
    where ${ofFeed(feed)} and is_open
    order by gap desc
  `);
  return rows;
}

/** The stored cursor nearest above a gap that still leads in; null: only the head does. */
export const entryAbove = (tx: Queryable, feed: Feed, gap: Gap): Promise<Cursor | null> =>
  valueOf<Cursor>(tx, sql`select etl.entry_above(${feedName(feed)}, ${gap.to})`);

export interface Floor extends Record<string, unknown> {
  readonly depthMs: number;
  /** The block that the walk has to go past. */
  readonly floor: number;
  /** The block that it is so deep below. */
  readonly from: number;
}

/** Stop heights for depths in ms, the shallowest first, below `below` or the covered top; none: nothing is covered. */
export async function floorsOf(
  tx: Queryable,
  feed: Feed,
  depthsMs: readonly number[],
  below: number | null = null,
): Promise<Floor[]> {
  const { rows } = await tx.execute<Floor>(sql`
    select depth_ms as "depthMs", "from"::float8 as "from", floor::float8 as floor
    from etl.stop_heights(${feedName(feed)}, ${sql.param(depthsMs)}::float8[], ${below}::bigint)
  `);
  return rows;
}

/** A deeper poll for late arrivals: how far below the covered top, and how often. */
export interface ResweepRule {
  readonly depthMs: number;
  readonly everyMs: number;
}

export type NewestFirstScope = {
  readonly since?: string;
  readonly max_pages?: number;
  /** Of what is missing only these blocks, both included. */
  readonly from_block?: number;
  readonly to_block?: number;
  /** How far below the top of the coverage a live walk goes, in ms. */
  readonly overlap_ms?: number;
  /** Short ones belong to the live lane. */
  readonly resweep?: readonly ResweepRule[];
  /** Whether the backfill lane reads all known history once more. */
  readonly again?: boolean;
  /** Whether gaps are read now, whatever their interval: a person waits. */
  readonly at_once?: boolean;
};

export type NewestFirstRun = RunOf<NewestFirstScope>;

/** The user's bounds of a run, as they bound each of its walks. */
export function boundsOf({ scope: { since, max_pages } }: NewestFirstRun): NewestFirstWalk {
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

export const isRange = ({ from_block, to_block }: NewestFirstScope): boolean =>
  from_block !== undefined || to_block !== undefined;

export const orderOfFeed = ({ operation }: Feed): ListOrder => orderOf(operations[operation]);

/** As SQL, after `from`: stored items. Of one table, as Citus copies a union before it filters. */
export function itemsOf(feed: Feed) {
  const { table, height, key, time } = placeColumns(operations[feed.operation]);
  return sql`
    (
      select chain_id, ${height} as height, ${key} as key, ${time} as timestamp from ${table}
    ) as item
    where chain_id = ${feed.chain_id} and height is not null`;
}

export interface BegunWalk extends Record<string, unknown> {
  readonly id: number;
  readonly state: string;
  readonly reason: string | null;
  readonly floor: number;
  readonly top: number | null;
  readonly bottom: number | null;
  readonly pages: number;
  readonly from_head: boolean;
  readonly is_again: boolean;
  readonly depth_ms: number | null;
  /** The block of the synthetic cursor that it entered at; null: it entered at another cursor. */
  readonly entry: number | null;
  /** The walk whose rest it shares, with others that entered below that one; null: none. */
  readonly above: number | null;
}

/** The walks of a run, the oldest first. */
export async function walksOf(tx: Queryable, run: NewestFirstRun): Promise<BegunWalk[]> {
  const { rows } = await tx.execute<BegunWalk>(sql`
    select id::float8 as id, state, reason, coalesce(floor, 0)::float8 as floor, top::float8 as top,
           bottom::float8 as bottom, pages::float8 as pages, from_head,
           scope ? 'again' as is_again, depth_ms::float8 as depth_ms,
           (scope -> 'entry' ->> 'height')::float8 as entry, (scope ->> 'above')::float8 as above
    from etl.walks
    where run_id = ${run.id}
    order by id
  `);
  return rows;
}

export const isRunning = ({ state }: BegunWalk) => state === 'running';

/** Whether it entered at a synthetic cursor and met nothing there that was requested. */
const isLost = ({ entry, state, pages, reason }: BegunWalk) =>
  entry !== null &&
  ((state === 'abandoned' && pages === 0) ||
    reason === 'misplaced-entry' ||
    reason === 'empty-entry');

/** Whether it entered above a gap and met nothing there: no item verifies where the gap begins. */
export const isInVain = ({ entry, state, top }: BegunWalk, gap: Gap): boolean =>
  entry !== null && entry > gap.to && state === 'finished' && (top ?? 0) <= gap.to;

/**
 * What a walk of the run has tried of a gap; null: it is about another, or met nothing that was requested.
 * under-way: it goes through the gap or into it; one that reads again may make it as it goes.
 * mismatch: it met another list on its way, which may be a brief mistake. refused: the service refused a stored cursor
 * of its own, which leaves the head. tried: nothing is left to try.
 */
export function attemptOn(
  walk: BegunWalk,
  gap: Gap,
): 'under-way' | 'mismatch' | 'refused' | 'tried' | null {
  const { bottom, entry, floor, state, reason, is_again, from_head } = walk;
  if (isRunning(walk) && gap.to >= floor) {
    const from = bottom ?? entry;
    if (from === null ? is_again : gap.from <= from) return 'under-way';
  }
  if (isLost(walk) || floor !== gap.from) return null;
  if (reason === 'cursor-mismatch') return 'mismatch';
  if (state === 'abandoned' && (is_again || !from_head)) return 'refused';
  return is_again || isInVain(walk, gap) ? null : 'tried';
}
