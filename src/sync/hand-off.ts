import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { WalkRow } from '../lists/tables.ts';
import type { ReadPage } from './walk.ts';

/** A walk that takes over a part of what others were to read, at its first page. */
interface Arriving {
  readonly walk: WalkRow;
  /** The walk that all of them share the rest of. */
  readonly first: number;
  /** Where it entered the list: those that entered higher are above it. */
  readonly height: number;
}

/** A walk whose first page is to be committed, if it takes over a part of others. */
export const arrivingWalk = (walk: WalkRow): Arriving | null => {
  const { above, entry } = walk.scope;
  if (walk.pages > 0 || above === undefined || entry === undefined) return null;
  return { walk, first: above, height: entry.height };
};

/** As SQL: the other walks that share a rest with one. */
const sharing = ({ walk: { id, run_id }, first }: Arriving) => sql`
  run_id = ${run_id} and id <> ${id} and (id = ${first} or (scope ->> 'above')::bigint = ${first})
`;

const entryHeight = sql`(scope -> 'entry' ->> 'height')::bigint`;

/** As SQL: those of them that are to end where a walk takes over, at a block. */
const above = (arriving: Arriving, block: number) => sql`
  ${sharing(arriving)}
  and state = 'running'
  and (id = ${arriving.first} or ${entryHeight} > ${arriving.height})
  and coalesce(floor, 0) < ${block}
`;

/**
 * Before the walk's own row and all others of its page: each walk's own commit holds its row first. Those that
 * share a rest arrive one at a time, in any order: one that was begun later may be above, and has not known
 * that this one would arrive. So a walk ends where one below it has arrived meanwhile.
 */
export async function lockAbove(tx: Transaction, arriving: Arriving): Promise<void> {
  const { walk, first, height } = arriving;
  await tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`arrivals beside walk ${first}`}, 0))`,
  );
  await tx.execute(
    sql`select from etl.walks where ${above(arriving, height)} order by id for no key update`,
  );
  await tx.execute(sql`
    update etl.walks
    set floor = below.top
    from (
      select max(top) as top
      from etl.walks
      where ${sharing(arriving)}
        and ${entryHeight} < ${height}
        and pages > 0
        and (reason is null or reason not in ('astray', 'nothing'))
    ) as below
    where id = ${walk.id} and coalesce(floor, 0) < below.top
  `);
}

/**
 * Lets a walk that has arrived take over: those above it end past the highest block that this one's
 * first page confirms, so that no block at the range boundary is left to neither. Where it has not arrived, they
 * read on as if there were no other.
 */
export async function handOff(
  tx: Transaction,
  arriving: Arriving,
  [first]: readonly ReadPage[],
): Promise<void> {
  const top = first?.page.top ?? null;
  if (top === null || missedEntry(first)) return;
  await tx.execute(sql`update etl.walks set floor = ${top} where ${above(arriving, top)}`);
}

/** Whether a walk ends with a page because it is not the requested one: it says nothing of the list. */
export const missedEntry = (read: Pick<ReadPage, 'end'> | undefined): boolean =>
  read?.end?.is === 'bound' && read.end.bound === 'astray';
