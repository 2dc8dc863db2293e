import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { type Feed, feedName } from '../feed.ts';
import type { PlannedWalk } from '../list.ts';
import type { Cursor, NewestFirstWalk } from '../operation.ts';
import type { LiveEnd } from './coverage.ts';

/** What a stored page begins with: a way into the middle of the list. */
interface Entry {
  readonly cursor: Cursor;
  /** The highest block on the page. */
  readonly top: number;
}

/** Less is not worth a walk of its own, in pages: each border may cost a page or two twice. */
const shortestSegment = 25;

/** A range of the list that is read again. */
export interface Reading extends Pick<PlannedWalk<NewestFirstWalk>, 'scope' | 'floor' | 'depthMs'> {
  /** Where it begins; null is the head. */
  readonly start: LiveEnd | null;
  /** How many walks at once, at most. */
  readonly most: number;
}

/**
 * One reading of a range of the list as walks side by side. Each but the first enters at a cursor of
 * the ledger. Each but the last ends where the next one entered: at the same cursor, where pages
 * fall as they did when it was stored, else past its first block.
 */
export async function planSegments(
  tx: Transaction,
  feed: Feed,
  { floor, start, most, ...rest }: Reading,
): Promise<PlannedWalk<NewestFirstWalk>> {
  const entries = await entriesWithin(tx, feed, floor ?? 0, start?.bottom ?? null, most);
  const segment = (
    cursor: Cursor | null,
    next: Entry | undefined,
  ): PlannedWalk<NewestFirstWalk> => ({
    ...rest,
    scope: { ...rest.scope, ...(next !== undefined && { until: next.cursor }) },
    floor: next === undefined ? floor : next.top,
    cursor,
  });
  return {
    ...segment(start?.cursor ?? null, entries[0]),
    beside: entries.map(({ cursor }, index) => segment(cursor, entries[index + 1])),
  };
}

/** Cursors of the ledger that part a range of blocks evenly, the newest first. */
async function entriesWithin(
  tx: Transaction,
  feed: Feed,
  floor: number,
  from: number | null,
  most: number,
): Promise<Entry[]> {
  const { rows } = await tx.execute<{ cursor: Cursor; top: string }>(sql`
    with entry as (
      select distinct on (page.top) page.cursor_in as cursor, page.top
      from etl.pages as page
      where page.feed = ${feedName(feed)}
        and page.top > ${floor}
        and (${from}::bigint is null or page.top < ${from}::bigint)
        and page.is_ordered
        and page.cursor_in is not null
      order by page.top, page.id desc
    ), placed as (
      select cursor, top,
             row_number() over (order by top desc) as place,
             -- The page that the reading begins with is none of them.
             least(${most}, (count(*) over () + 1) / ${shortestSegment}) as segments,
             count(*) over () + 1 as pages
      from entry
    )
    select cursor, top
    from placed
    where segments > 1
      and place % (pages / segments) = 0
      and place / (pages / segments) < segments
    order by top desc
  `);
  return rows.map(({ cursor, top }) => ({ cursor, top: Number(top) }));
}
