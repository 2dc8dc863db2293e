import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { kinds } from '../../lists/index.ts';
import type { PartState } from '../../lists/ribbon.ts';
import { segmentsOf, type Cell, type Segment } from './segments.ts';

/** Heights of a list, both included: blocks or numbers of batches. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** How much of a window is in a state, and in how many ranges. */
export interface Amount {
  readonly state: PartState;
  readonly count: number;
  readonly ranges: number;
}

/** What is known of a part of a list, so that it can be drawn. */
export interface Ribbon {
  readonly feed: string;
  /** All of the list that there is to see. */
  readonly whole: Range;
  readonly window: Range;
  /** Without a hole between them; few, whatever there is to tell. */
  readonly segments: readonly Segment[];
  readonly amounts: readonly Amount[];
  /** The newest ones in the window, exactly. */
  readonly gaps: readonly Range[];
  /** Items of the walks by the blocks that they went over; null: not known. */
  readonly itemsPerBlock: number | null;
  /** What a page brought of history, the other way round; null: nothing was read. */
  readonly pagesPerItem: number | null;
}

export interface RibbonOptions {
  /** In how many parts a window is told at most. */
  readonly resolution: number;
  /** What to look at of some feeds; of the others it is all. */
  readonly windows: ReadonlyMap<string, Range>;
  /** The part of each feed's items that is proved, where it is reckoned. */
  readonly shares: ReadonlyMap<string, number>;
}

/** As SQL: the parts of all feeds whose items have heights. */
const parts = sql.join(
  Object.values(kinds).flatMap(({ ribbon }) =>
    ribbon === null
      ? []
      : [
          sql`
            select feed, chain_id, begins, ends, proved, gap, held, flight, waiting, unknown, unwanted
            from (${ribbon.parts}) as parts
          `,
        ],
  ),
  sql` union all `,
);

/** More gaps than these are counted, and not named. */
const mostGaps = 12;
/** What is not wanted is shown as such a part of what is known. */
const stub = 1 / 6;
/** And what nobody has seen as what is left by the share, or it would leave no room for what is known. */
const mostBelow = 5;

interface Row {
  readonly feed: string;
  readonly whole: Range;
  readonly window: Range;
  readonly size: number;
  readonly cells: readonly Cell[] | null;
  readonly gaps: readonly Range[] | null;
  readonly items_per_block: number | null;
  readonly pages_per_item: number | null;
}

/**
 * The ribbon of each feed whose list has heights and of which anything is known. It reads what is kept of
 * coverage, and not the walks that it rests on; what it answers is bounded.
 */
export async function ribbonsOf(
  db: Database,
  { resolution, windows, shares }: RibbonOptions,
): Promise<Ribbon[]> {
  const asked = [...windows].map(([feed, { from, to }]) => ({ feed, from, to }));
  const below = [...shares].map(([feed, share]) => ({
    feed,
    below: Math.min(mostBelow, Math.max(stub, 1 / share - 1)),
  }));
  const { rows } = await db.execute<{ ribbon: Row }>(sql`
    with ${windowed(resolution, asked, below)}, ${cut}
  `);
  return rows.map(({ ribbon }) => ribbonOf(ribbon));
}

function ribbonOf({ cells, gaps, size, ...row }: Row): Ribbon {
  const { feed, whole, window } = row;
  const told = cells ?? [];
  return {
    feed,
    whole,
    window,
    segments: segmentsOf(told, window, size),
    amounts: amountsOf(told),
    gaps: gaps ?? [],
    itemsPerBlock: row.items_per_block,
    pagesPerItem: row.pages_per_item,
  };
}

function amountsOf(cells: readonly Cell[]): Amount[] {
  const byState = Map.groupBy(cells, ({ state }) => state);
  return [...byState].map(([state, own]) => ({
    state,
    count: own.reduce((sum, { count }) => sum + count, 0),
    ranges: own.reduce((sum, { ranges }) => sum + ranges, 0),
  }));
}

/** As SQL: the parts of each feed as `windowed`, with the window that is looked at and the size of its cells. */
const windowed = (resolution: number, asked: readonly object[], below: readonly object[]) => sql`
    parts as materialized (${parts}), hidden as (
      select * from jsonb_to_recordset(${JSON.stringify(below)}::jsonb)
        as hidden(feed text, below float8)
    ), asked as (
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
        as asked(feed text, "from" numeric, "to" numeric)
    ), shown as materialized (
      select parts.*,
             case when asked.feed is not null then least(greatest(asked.from, 0), ends - 1)::bigint end
               as asked_from,
             case when asked.feed is not null
                  then least(greatest(asked.from, asked.to, 0), ends - 1)::bigint end as asked_to,
             case when isempty(unwanted) and isempty(unknown) then begins
                  else greatest(0, begins - ceil(
                    (ends - begins)
                      * case when isempty(unknown) then ${stub}::float8 else coalesce(below, ${stub}::float8) end
                  )::bigint) end as lowest
      from parts
      left join asked using (feed)
      left join hidden using (feed)
    ), windowed as materialized (
      select *, coalesce(asked_from, lowest) as "from", coalesce(asked_to, ends - 1) as "to",
             greatest(1, ceil(
               (coalesce(asked_to, ends - 1) - coalesce(asked_from, lowest) + 1)::numeric
                 / ${resolution}::bigint
             ))::bigint as size
      from shown
    )
`;

/** As SQL: what of the windows is in which state, cell by cell. */
const cut = sql`
    -- Each with its window: "windowed" holds all of them in a row, and a nested loop read that row for each.
    ranges as materialized (
      select feed, "from", size, state, range
      from windowed, lateral (
        values ('proved', proved), ('gap', gap), ('held', held), ('flight', flight),
               ('waiting', waiting), ('unknown', unknown), ('unwanted', unwanted)
      ) as stated(state, numbers),
      lateral unnest(numbers * int8multirange(int8range("from", "to", '[]'))) as range
    ), cells as (
      select feed, state, cell, sum(highest - lowest + 1) as count,
             min(lowest) as lowest, max(highest) as highest, count(*) filter (where is_first) as ranges
      from (
        select feed, state, cell, cell = first_cell as is_first,
               greatest(lower(range), "from" + cell * size) as lowest,
               least(upper(range) - 1, "from" + (cell + 1) * size - 1) as highest
        from ranges,
        lateral (
          select (lower(range) - "from") / size as first_cell, (upper(range) - 1 - "from") / size as last_cell
        ) as place,
        lateral generate_series(first_cell, last_cell) as cell
      ) as cut
      group by feed, state, cell
    )
    select json_build_object(
      'feed', feed,
      'whole', json_build_object('from', lowest, 'to', ends - 1),
      'window', json_build_object('from', "from", 'to', "to"),
      'size', size,
      'cells', (
        select json_agg(json_build_object(
          'cell', cell, 'state', state, 'count', count, 'from', cells.lowest, 'to', cells.highest,
          'ranges', ranges
        ) order by cell)
        from cells
        where cells.feed = windowed.feed
      ),
      'gaps', (
        select json_agg(json_build_object('from', lower(range), 'to', upper(range) - 1))
        from (
          select range from ranges
          where ranges.feed = windowed.feed and state = 'gap'
          order by range desc
          limit ${mostGaps}
        ) as newest
      ),
      'items_per_block', (
        select sum(spanned_items) / nullif(sum(spanned_blocks), 0) from etl.lane_sums
        where lane_sums.feed = windowed.feed
      ),
      'pages_per_item', (
        select sum(pages)::float8 / nullif(sum(spanned_items), 0) from etl.lane_sums
        where lane_sums.feed = windowed.feed and lane = 'backfill'
      )
    ) as ribbon
    from windowed
`;
