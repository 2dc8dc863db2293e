import { sql } from 'drizzle-orm';
import { type Queryable, valueOf } from '../../db/query.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { PlannedWalk } from '../list.ts';
import type { Cursor, NewestFirstWalk, OrderKey } from '../operation.ts';
import type { Gap, LiveEnd } from './coverage.ts';
import { itemsOf, type NewestFirstScope, orderOf } from './run.ts';

/** How long refused synthetic cursors are remembered: one request a day tries again. */
const memory = '1 day';
/** Walks in a row that fail before they arrive, of whatever failure: an outage fails many. */
const mostFailures = 3;
/** Stored items above a gap that are tried as entries; those that have left the list lead nowhere. */
const mostEntries = 5;

/** Whether the service serves synthetic cursors: it may refuse one, or take it for something else. */
export const believesEntries = async (tx: Queryable, feed: Feed, at: Date): Promise<boolean> =>
  (await valueOf<boolean>(
    tx,
    sql`
      with entered as (
        select id, state, failure, reason, pages
        from etl.walks
        where ${ofFeed(feed)}
          and started_at > ${at.toISOString()}::timestamptz - ${memory}::interval
          and scope ? 'entry'
      )
      select not exists (
        select from entered
        where reason = 'misplaced-entry' or (failure = 'cursor-refused' and pages = 0)
      ) and (
        select count(*) < ${mostFailures}
        from entered
        where state = 'abandoned' and pages = 0 and reason <> 'superseded'
          and id > coalesce((select max(id) from entered where pages > 0), 0)
      ) as believed
    `,
  )) === true;

export interface WantedGap extends Gap {
  /** Where the gap itself ends, above what is wanted of it. */
  readonly top: number;
}

/** The part of a gap that a run is about; null: none. */
export function wantedOf(gap: Gap, scope: NewestFirstScope): WantedGap | null {
  const from = Math.max(gap.from, scope.from_block ?? 0);
  const to = Math.min(gap.to, scope.to_block ?? gap.to);
  return from > to ? null : { from, to, top: gap.to };
}

/** Items between a synthetic cursor and the range that it leads to: one at least verifies the range. */
const itemsAbove = 25;

/**
 * A position to enter a gap at: the lowest stored item above it, or in its middle a little above
 * the wanted part, because a walk verifies nothing above the first item that it meets: twice as far
 * for each of `vain` walks that met nothing there. Null: no stored item leads in.
 */
export async function entryInto(
  tx: Queryable,
  feed: Feed,
  gap: WantedGap,
  vain: number,
): Promise<OrderKey | null> {
  const height = gap.to + (await blocksOf(tx, feed, itemsAbove * 2 ** vain));
  return gap.to < gap.top && height < gap.top
    ? orderOf(feed).topOf(height)
    : itemAbove(tx, feed, gap.top);
}

async function blocksOf(tx: Queryable, feed: Feed, items: number): Promise<number> {
  const blocks = await valueOf<number>(
    tx,
    sql`
      select (${items} * sum(spanned_blocks) / nullif(sum(spanned_items), 0))::float8 as blocks
      from etl.coverage
      where ${ofFeed(feed)}
    `,
  );
  return Math.ceil(blocks ?? items);
}

/** The lowest stored item above a block that no walk entered at for nothing; null: there is none. */
async function itemAbove(tx: Queryable, feed: Feed, block: number): Promise<OrderKey | null> {
  const { rows } = await tx.execute<{ height: number; key: string }>(sql`
    -- Materialized: Citus cannot join spread rows with walks.
    with item as materialized (
      select height, key from ${itemsOf(feed)} and height > ${block}
      order by height, key
      limit ${mostEntries}
    )
    select height::float8 as height, key
    from item
    where not exists (
      select from etl.walks
      where ${ofFeed(feed)}
        and not from_head
        and state <> 'running'
        and (scope -> 'entry' ->> 'height')::bigint = item.height
        and scope -> 'entry' ->> 'key' = item.key
        and coalesce(top, 0) <= ${block}
    )
    order by item.height, key
    limit 1
  `);
  return rows[0] ?? null;
}

interface Entry extends Record<string, unknown> {
  readonly cursor: Cursor;
  /** The highest block on the page. */
  readonly top: number;
}

/** The shortest walk of its own, in pages: each range boundary may cost a page or two twice. */
const shortestSegment = 25;

export interface Reading extends Pick<PlannedWalk<NewestFirstWalk>, 'scope' | 'floor' | 'depthMs'> {
  /** Where it begins; null is the head. */
  readonly start: LiveEnd | null;
  readonly most: number;
}

/** One reading as parallel walks; each ends at the next one's cursor, or past its first block. */
export async function planSegments(
  tx: Queryable,
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
  tx: Queryable,
  feed: Feed,
  floor: number,
  from: number | null,
  most: number,
): Promise<Entry[]> {
  const { rows } = await tx.execute<Entry>(sql`
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
    select cursor, top::float8 as top
    from placed
    where segments > 1
      and place % (pages / segments) = 0
      and place / (pages / segments) < segments
    order by placed.top desc
  `);
  return rows;
}
