import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { Cursor } from '../operations/operation.ts';
import type { WalkState } from './tables.ts';
import type { WalkRow } from './walk-row.ts';

/** Another worker has taken the walk over; what this one had in hand must not be written. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/**
 * Locks the walk for this transaction if this worker still holds it, and finds which of `cursors`
 * were used in the walk before.
 *
 * @returns indexes into `cursors`
 * @throws FencedError when the walk's revision is no longer the worker's (promise 2)
 */
export async function lockWalk(
  tx: Transaction,
  walk: WalkRow,
  cursors: readonly (Cursor | null)[],
): Promise<ReadonlySet<number>> {
  const { rows } = await tx.execute<{ used: string[] }>(sql`
    select array(
      select next.position - 1
      from json_array_elements(${JSON.stringify(cursors)}::json) with ordinality as next(cursor, position)
      where next.cursor::text <> 'null'
        and exists (
          select from etl.pages
          where walk_id = ${walk.id}
            and md5(coalesce(cursor_in, '{}')::text) = md5(next.cursor::jsonb::text)
        )
    ) as used
    from etl.walks
    where id = ${walk.id} and revision = ${walk.revision} and state = 'running'
    for update
  `);
  const [row] = rows;
  if (row === undefined) throw new FencedError(`walk ${walk.id} was taken over`);
  return new Set(row.used.map(Number));
}

/** What a transaction's pages add to their walk. */
export interface WalkAdvance {
  readonly cursor: Cursor | null;
  readonly pages: number;
  readonly items: number;
  readonly inserted: number;
  readonly changed: number;
  readonly quarantined: number;
  readonly empty_run: number;
  readonly top: number | null;
  readonly bottom: number | null;
  readonly isOrdered: boolean;
  readonly state: WalkState;
  readonly reason: string | null;
}

/** Moves the checkpoint by compare-and-set on the walk's revision (promise 2). */
export async function moveCheckpoint(
  tx: Transaction,
  walk: WalkRow,
  advance: WalkAdvance,
): Promise<WalkRow> {
  const { rows } = await tx.execute(sql`
    update etl.walks
    set revision = revision + 1,
        cursor = ${advance.cursor === null ? null : JSON.stringify(advance.cursor)}::jsonb,
        pages = pages + ${advance.pages},
        items = items + ${advance.items},
        inserted = inserted + ${advance.inserted},
        changed = changed + ${advance.changed},
        quarantined = quarantined + ${advance.quarantined},
        empty_run = ${advance.empty_run},
        top = greatest(top, ${advance.top}::bigint),
        bottom = least(bottom, ${advance.bottom}::bigint),
        is_ordered = is_ordered and ${advance.isOrdered},
        state = ${advance.state},
        reason = ${advance.reason},
        updated_at = now(),
        finished_at = case when ${advance.state} = 'running' then null else now() end
    where id = ${walk.id} and revision = ${walk.revision} and state = 'running'
    returning revision
  `);
  if (rows.length === 0) throw new FencedError(`walk ${walk.id} was taken over`);
  return {
    ...walk,
    revision: walk.revision + 1,
    cursor: advance.cursor,
    pages: walk.pages + advance.pages,
    items: walk.items + advance.items,
    empty_run: advance.empty_run,
    state: advance.state,
    reason: advance.reason,
  };
}
