import { sql } from 'drizzle-orm';
import type { ListRibbon, RibbonFeed } from '../ribbon.ts';

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

/** The highest block is the head's, and no part of what may be proved. */
const listExtent = ({ feed, chain_id, operation }: RibbonFeed) => sql`
  select least(
           (select height from etl.item_above(${chain_id}, ${operation}, 0)),
           nullif(lower(covered), 0),
           highest - 1
         ) as low,
         highest - 1 as high,
         case
           when covered @> 0::bigint then 'nothing'
           when reached_since is not null then 'unwanted'
           else 'unknown'
         end as below
  from etl.feed_coverage
  where feed_coverage.feed = ${feed} and highest is not null
`;

const itemBelow = ({ chain_id, operation }: RibbonFeed, height: number) => sql`
  select height, 1000 * extract(epoch from timestamp) as at
  from etl.item_below(${chain_id}, ${operation}, ${height}, 'infinity')
`;

/** Ranges of blocks, or of batch numbers, that walks from the head prove. */
export const ribbon: ListRibbon = {
  states: listStates,
  extent: listExtent,
  timeBelow: itemBelow,
  near: sql`top > low order by top`,
  bears: sql`(proved && int8range(low, high, '[]')
    or state = 'running' and coalesce(floor, 0) <= high and bottom > low)`,
};
