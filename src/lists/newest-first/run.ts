import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { RunOf } from '../list.ts';
import type { NewestFirstWalk } from '../operation.ts';
import type { Gap } from './coverage.ts';

export type RunResweep = {
  readonly depth_ms: number;
  readonly every_ms: number;
};

/** What a run of a newest-first list covers. */
export type NewestFirstScope = {
  readonly since?: string;
  readonly max_pages?: number;
  /** Of what is missing only these blocks, both included. */
  readonly from_block?: number;
  readonly to_block?: number;
  /** How far below the top of what is covered a live walk goes, in ms. */
  readonly overlap_ms?: number;
  /** Deeper polls for late arrivals: how deep, and how often; short ones are the live lane's. */
  readonly resweep?: readonly RunResweep[];
  /** Whether the backfill lane reads all known history once more. */
  readonly again?: boolean;
  /** Whether gaps are read again now, whatever their interval: a person waits. */
  readonly at_once?: boolean;
};

export type NewestFirstRun = RunOf<NewestFirstScope>;

/** The user's bounds of a run, as they bound each of its walks. */
export function boundsOf({ scope: { since, max_pages } }: NewestFirstRun): NewestFirstWalk {
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

/** Whether a run is about some blocks only. */
export const isRange = ({ from_block, to_block }: NewestFirstScope): boolean =>
  from_block !== undefined || to_block !== undefined;

/** A walk that a run has begun. */
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
  /** The block at which it entered the list, where that position was made; null where it was not. */
  readonly entry: number | null;
  /** The walk whose rest it shares, with others that entered below that one; null: none. */
  readonly above: number | null;
}

/** The walks of a run, the oldest first. */
export async function walksOf(tx: Transaction, run: NewestFirstRun): Promise<BegunWalk[]> {
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

/** Whether it entered at a made position and met nothing there that was requested. */
const isLost = ({ entry, state, pages, reason }: BegunWalk) =>
  entry !== null &&
  ((state === 'abandoned' && pages === 0) || reason === 'astray' || reason === 'nothing');

/**
 * Whether it entered above a gap and met nothing there, so it verifies no beginning: the item has left the list,
 * or none stands in the range that was guessed.
 */
export const isInVain = ({ entry, state, top }: BegunWalk, gap: Gap): boolean =>
  entry !== null && entry > gap.to && state === 'finished' && (top ?? 0) <= gap.to;

/**
 * Whether a walk of the run was to close a gap: it is not tried again by the same run, so a run ends. A
 * refused cursor leaves one more way in, the head; a made one that leads nowhere, all other ways.
 */
export const tried = (walk: BegunWalk, gap: Gap): boolean =>
  !walk.is_again &&
  !isLost(walk) &&
  !isInVain(walk, gap) &&
  walk.floor === gap.from &&
  walk.reason !== 'cursor-mismatch' &&
  (walk.state !== 'abandoned' || walk.from_head);

/** How many walks of a run met another list on their way through a gap: one may be a moment's mistake. */
export const mismatches = (begun: readonly BegunWalk[], gap: Gap): number =>
  begun.filter(({ reason, floor }) => reason === 'cursor-mismatch' && floor === gap.from).length;

/** Whether a cursor that the service gave was refused on the way into a gap. */
export const wasRefused = (walk: BegunWalk, gap: Gap): boolean =>
  walk.state === 'abandoned' && !isLost(walk) && walk.floor === gap.from;

/**
 * Whether a walk is on its way through a gap, or about to enter it. One that reads again may just have begun
 * at the head, and make a gap as it goes.
 */
export const reaches = (walk: BegunWalk, gap: Gap): boolean => {
  if (!isRunning(walk) || gap.to < walk.floor) return false;
  const from = walk.bottom ?? walk.entry;
  return from === null ? walk.is_again : gap.from <= from;
};
