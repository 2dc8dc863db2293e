import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { begunBy, frontierOf, hasUnread, isBegun, isUnderWay, shown, walkOf } from './begun.ts';
import { isSupposedHole } from './listing.ts';
import type { Feed } from '../feed.ts';
import { follow, planSearch } from './probe.ts';
import { isHeadLong, planLastLook, planReread, type RereadRange } from './reread.ts';
import type { WalkPlan } from '../list.ts';
import type { NumberedScope, NumberedTick } from './scope.ts';

/**
 * The backfill lane's next walk: without a last number the frontier is searched first; then the
 * batches that are not proved and due, then unread numbers from the top of the range down.
 */
export async function planBackfillBatch(
  tx: Transaction,
  tick: NumberedTick,
  at: Date,
): Promise<WalkPlan> {
  const from = tick.scope.from_batch ?? 1;
  if (tick.scope.to_batch === undefined && (await frontierOf(tx, tick)) === null) {
    const probe = await planSearch(tx, tick, from);
    if (probe !== null) return probe;
  }
  const top = tick.scope.to_batch ?? (await frontierOf(tx, tick));
  if (top === null) return null;
  const range = historyOf(tick, tick.scope, top);
  const again = await planReread(tx, tick, range, tick.scope.at_once === true ? 'at-once' : at);
  if (again !== null) return again;
  const next = await nextUnread(tx, tick, from);
  if (next !== null) return walkOf(next);
  return (await nextHole(tx, tick, from, top)) ?? planLastLook(tx, tick, range);
}

/** The numbers whose rereads are the backfill lane's: those that each live tick looks at are not. */
export function historyOf(
  feed: Feed,
  { from_batch: from = 1, to_batch, reread = 0 }: NumberedScope,
  top: number,
): RereadRange {
  return { ...feed, from, to: to_batch ?? top - reread };
}

/**
 * The live lane's next walk: a look above the frontier, on upward while there are new batches, then
 * those of the new ones that are unread, then those of the newest `reread` numbers that are not
 * proved, since a batch can be seen while it fills. Where many are not, they are read again in
 * growing intervals only: something keeps them from being proved that no look mends.
 */
export async function planLiveBatch(
  tx: Transaction,
  tick: NumberedTick,
  at: Date,
): Promise<WalkPlan> {
  const frontier = await frontierOf(tx, tick);
  if (frontier === null) return null;
  const { base, newest, look } = await follow(tx, tick, frontier);
  if (look !== null) return look;
  const passed = await nextPassed(tx, tick, base, newest);
  if (passed !== null) return passed;
  const { from_batch: lowest = 1, reread = 0 } = tick.scope;
  const all = { chain_id: tick.chain_id, operation: tick.operation, from: lowest, to: newest };
  // The newest of before is seen to its end once more, now that another stands on it.
  const range = { ...all, from: Math.max(lowest, Math.min(newest - reread + 1, base)) };
  const again = await planReread(
    tx,
    tick,
    range,
    (await isHeadLong(tx, all)) ? { restedBy: at } : 'at-once',
  );
  return again ?? planLastLook(tx, tick, range);
}

/** The highest number between the old frontier and the new one that nobody has read yet. */
async function nextPassed(
  tx: Transaction,
  tick: NumberedTick,
  base: number,
  newest: number,
): Promise<WalkPlan> {
  const { rows } = await tx.execute<{ number: number; is_hole: boolean }>(sql`
    select number::float8 as number, ${isSupposedHole(tick.chain_id, sql`number`)} as is_hole
    from generate_series(${newest}::bigint, ${base + 1}::bigint, -1) as number
    where ${isUnread(tick)} and not ${isBegun(tick, sql`number`)}
    order by is_hole, number desc
    limit 1
  `);
  return rows[0] === undefined ? null : unlessHole(tx, tick, rows[0]);
}

/** As SQL, over a `number`: nobody has read it to its end, or is about to. */
const isUnread = (tick: NumberedTick) => sql`
  not exists (
    select from explorer.read_batches
    where chain_id = ${tick.chain_id} and batch_number = number
  )
  and not ${isUnderWay(tick, sql`number`)}
`;

/** A hole is read when nothing else of the tick is: the walks under way may prove it empty. */
async function unlessHole(
  tx: Transaction,
  tick: NumberedTick,
  { number, is_hole }: { readonly number: number; readonly is_hole: boolean },
): Promise<WalkPlan> {
  if (!is_hole) return walkOf(number);
  return shown(await begunBy(tx, tick)).isUnderWay ? 'wait' : walkOf(number);
}

/** The highest number that was passed over as a hole, and which the batches around it did not prove empty. */
async function nextHole(
  tx: Transaction,
  tick: NumberedTick,
  from: number,
  top: number,
): Promise<WalkPlan> {
  if (!(await hasUnread(tx, tick, from, top))) return null;
  const { rows } = await tx.execute<{ number: number }>(sql`
    select number::float8 as number
    from generate_series(${top}::bigint, ${from}::bigint, -1) as number
    where ${isUnread(tick)} and not ${isBegun(tick, sql`number`)}
    limit 1
  `);
  return rows[0] === undefined ? null : unlessHole(tx, tick, { ...rows[0], is_hole: true });
}

/**
 * The highest number at or below the tick's pointer that was never read to its end. Moves the
 * pointer below it.
 */
async function nextUnread(
  tx: Transaction,
  tick: NumberedTick,
  from: number,
): Promise<number | null> {
  const { rows } = await tx.execute<{ batch: string }>(sql`
    with wanted as (
      -- In the select list it counts only as far as it is asked to, not through all numbers first.
      select generate_series(
        coalesce(ticks.next_batch, (scope ->> 'to_batch')::bigint, feeds.frontier), ${from}::bigint, -1
      ) as number
      from etl.ticks
      join etl.feeds using (chain_id, operation)
      where ticks.id = ${tick.id}
    ), next as (
      select number
      from wanted
      where ${isUnread(tick)} and not ${isSupposedHole(tick.chain_id, sql`number`)}
      limit 1
    )
    update etl.ticks
    set next_batch = number - 1
    from next
    where id = ${tick.id}
    returning number as batch
  `);
  return rows[0] === undefined ? null : Number(rows[0].batch);
}
