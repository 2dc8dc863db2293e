import { sql } from 'drizzle-orm';
import type { ListRibbon, RibbonFeed, RibbonWindow } from '../ribbon.ts';

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

const batchExtent = ({ feed, chain_id }: RibbonFeed) => sql`
  select least(asked.low, batch.low) as low, greatest(asked.high, batch.high) as high,
         case when least(asked.low, batch.low) <= 1 then 'nothing' else 'unwanted' end as below
  from (
    select min(lower(numbers)) as low, max(upper(numbers)) - 1 as high
    from etl.asked_batches where asked_batches.feed = ${feed}
  ) as asked, (
    select min(batch_number) as low, max(batch_number) as high
    from explorer.read_batches where chain_id = ${chain_id}
  ) as batch
`;

const batchBelow = ({ chain_id }: RibbonFeed, number: number) => sql`
  with batch as (
    select chain_id, batch_number, first_height
    from explorer.read_batches
    where chain_id = ${chain_id} and batch_number <= ${number} and blocks_count > 0
    order by batch_number desc
    limit 1
  )
  select batch_number as height, 1000 * extract(epoch from timestamp) as at
  from batch
  join explorer.blocks
    on blocks.chain_id = batch.chain_id and blocks.height = batch.first_height
  where blocks.chain_id = ${chain_id}
`;

/** Batches, each read by walks of its own. */
export const ribbon: ListRibbon = {
  states: batchStates,
  extent: batchExtent,
  timeBelow: batchBelow,
  near: sql`batch between low and high order by batch`,
  bears: sql`true`,
};
