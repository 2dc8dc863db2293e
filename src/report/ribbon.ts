import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RibbonPart, RibbonWindow } from './ribbon-state.ts';

/** The feed that a ribbon is of, as its table tells it. */
export interface RibbonFeed {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
}

/** The two kinds of list that have ranges. */
export type RibbonKind = 'newest-first' | 'numbered';

/**
 * How the numbers of a window stand, in buckets. However many ranges there are, no more than some parts a bucket
 * come: disjoint ranges that cross its border are two at most of each state, and those within it are one part.
 */
export async function ribbonParts(
  db: Database,
  feed: RibbonFeed,
  kind: RibbonKind,
  { window, buckets }: { readonly window: RibbonWindow; readonly buckets: number },
): Promise<RibbonPart[]> {
  const { from, to } = window;
  const states = kind === 'numbered' ? batchStates(feed, window) : listStates(feed);
  const bucket = (number: SQL) =>
    sql`((${number} - ${from}::bigint)::numeric * ${buckets} / ${to - from + 1}::bigint)`;
  const { rows } = await db.execute<Record<keyof RibbonPart, string>>(sql`
    with state as materialized (${states})
    select state, floor(${bucket(sql`low`)}) as first, floor(${bucket(sql`high`)}) as last,
           min(low) as "from", max(high) as "to", count(*) as pieces, sum(high - low + 1) as numbers
    from (
      select state, lower(range) as low, upper(range) - 1 as high
      from state,
           unnest(ranges * int8multirange(int8range(${from}::bigint, ${to}::bigint, '[]'))) as range
    ) as piece
    group by 1, 2, 3
    order by 4
  `);
  return rows.map((row) => ({
    // The statement names no other.
    state: row.state as RibbonPart['state'],
    first: Number(row.first),
    last: Number(row.last),
    from: Number(row.from),
    to: Number(row.to),
    pieces: Number(row.pieces),
    numbers: Number(row.numbers),
  }));
}

/**
 * Of a list that is newest first: what walks prove together, without what is quarantined, and the holes. One that
 * goes down to 0 where no walk reached the list's end is unknown: nobody has seen where the list begins.
 */
const listStates = ({ feed }: RibbonFeed) => sql`
  -- Materialized, all three: a hole is a look into an index, and is to be looked at once.
  with coverage as materialized (
    select coalesce(covered, '{}') as covered, coalesce(highest, 0) as highest
    from etl.feed_coverage
    where feed_coverage.feed = ${feed}
  ), hole as materialized (
    select gap from etl.feed_gaps where feed_gaps.feed = ${feed}
  ), fact as materialized (
    select covered, int8multirange(int8range(0, highest)) as known,
           coalesce((select range_agg(gap) from hole), '{}') as holes,
           case
             when (
               select range_agg(proved) from etl.lane_sums where lane_sums.feed = ${feed}
             ) @> 0::bigint then '{}'
             else coalesce((select range_agg(gap) from hole where lower(gap) = 0), '{}')
           end as bottomless,
           coalesce((
             select range_agg(int8range(coalesce(from_block, 0), to_block, '[]'))
             from etl.quarantine
             where quarantine.feed = ${feed} and dropped_at is null and to_block is not null
           ), '{}') as quarantined,
           coalesce((
             select range_agg(int8range(coalesce(floor, 0), bottom))
             from etl.walks
             where walks.feed = ${feed} and state = 'running' and finished_at is null
               and bottom > coalesce(floor, 0)
           ), '{}') as walked
    from coverage
  )
  select part.*
  from fact, lateral (values
    ('proved', covered - quarantined),
    ('doubtful', covered * quarantined),
    ('reading', holes * walked),
    ('unknown', bottomless - walked),
    ('missing', holes - bottomless - walked),
    ('unwanted', known - covered - holes)
  ) as part(state, ranges)
`;

/** Of a list of batches by number: what the chain proves, what was read, and what was asked for. */
const batchStates = ({ feed, chain_id }: RibbonFeed, { from, to }: RibbonWindow) => sql`
  select part.*
  from (
    select coalesce(range_agg(int8range(batch_number, batch_number + 1)), '{}') as read,
           coalesce(
             range_agg(int8range(batch_number, batch_number + 1)) filter (where is_proved), '{}'
           ) as proved
    from explorer.read_batches
    where chain_id = ${chain_id} and batch_number between ${from} and ${to}
  ) as batch, (
    select coalesce(range_agg(numbers), '{}') as asked,
           -- Above the highest settled one they wait for the next batch, as explorer.gaps has it.
           int8multirange(int8range(max(settled_to) + 1, case when max(settled_to) is null then 0 end)) as head,
           max(settled_to) is not null as has_head
    from etl.asked_batches
    where asked_batches.feed = ${feed}
  ) as wish, (
    select coalesce(range_agg(int8range(batch, batch + 1)), '{}') as walked
    from etl.walks
    where walks.feed = ${feed} and state = 'running' and finished_at is null and batch is not null
  ) as walk, lateral (
    select case when has_head then head else '{}' end as newest,
           int8multirange(int8range(${from}::bigint, ${to}::bigint, '[]')) as known
  ) as bound, lateral (values
    ('proved', proved),
    ('reading', walked - proved),
    ('waiting', (asked + read) * newest - proved - walked),
    ('doubtful', read - proved - walked - newest),
    ('missing', asked - read - walked - newest),
    ('unwanted', known - asked - read - walked)
  ) as part(state, ranges)
`;
