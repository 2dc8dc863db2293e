import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { neverWalkedWhole } from './coverage.ts';

/** A range that is proved complete: blocks of user operations, or numbers of batches. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
  /** ISO 8601: complete as the service stood then. */
  readonly as_of: string;
}

/** What of a feed is proved, and each thing that is not. The feed is complete when `open` is empty. */
export interface FeedCertificate {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
  readonly covered: readonly CoveredRange[];
  readonly open: readonly string[];
}

/** The certificate of every feed, read from what was committed, never from the service. */
export async function certify(db: Database): Promise<FeedCertificate[]> {
  const { rows } = await db.execute<{ certificate: FeedCertificate }>(sql`
    with finding as (${findings})
    select json_build_object(
      'feed', feed,
      'chain_id', feeds.chain_id,
      'operation', feeds.operation,
      'covered', coalesce(
        (
          select json_agg(
            json_build_object('from', from_block, 'to', to_block, 'as_of', as_of)
            order by from_block
          )
          from explorer.coverage
          where coverage.chain_id = feeds.chain_id and coverage.operation = feeds.operation
        ),
        case when feeds.operation = 'optimism-batch-blocks' then (${readBatches}) end,
        '[]'
      ),
      'open', coalesce(
        (
          select json_agg(open order by open)
          from finding
          where finding.chain_id = feeds.chain_id and finding.operation = feeds.operation
        ),
        '[]'
      )
    ) as certificate
    from etl.feeds
    order by feeds.chain_id, feeds.operation
  `);
  return rows.map(({ certificate }) => certificate);
}

/** Numbers of the ranges that were asked for and not read to their end, as ranges. */
const unreadBatches = sql`
  select chain_id, operation,
         'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': not read' as open
  from (
    select asked.chain_id, asked.operation,
           asked.numbers - coalesce(read.numbers, '{}') as missing
    from (
      select chain_id, operation,
             range_agg(
               int8range(
                 (scope ->> 'from_batch')::bigint,
                 coalesce((scope ->> 'to_batch')::bigint, frontier) + 1
               )
             ) as numbers
      from etl.ticks
      join etl.feeds using (chain_id, operation)
      where coalesce((scope ->> 'to_batch')::bigint, frontier) >= (scope ->> 'from_batch')::bigint
      group by chain_id, operation
    ) as asked
    left join (
      select chain_id, range_agg(int8range(batch_number, batch_number + 1)) as numbers
      from explorer.optimism_batches
      group by chain_id
    ) as read using (chain_id)
  ) as difference, unnest(missing) as range
`;

const readBatches = sql`
  select json_agg(
    json_build_object('from', lower(range), 'to', upper(range) - 1, 'as_of', as_of)
    order by range
  )
  from (
    select unnest(range_agg(int8range(batch_number, batch_number + 1))) as range,
           min(walked_at) as as_of
    from explorer.optimism_batches
    where optimism_batches.chain_id = feeds.chain_id
  ) as read
`;

/** Everything that keeps a feed from being complete, one line each. */
const findings = sql`
  select chain_id, operation, 'gap: blocks ' || from_block || ' to ' || to_block as open
  from explorer.gaps
  union all
  select chain_id, operation, 'nothing is covered yet'
  from etl.feed_coverage
  where highest is null and ${neverWalkedWhole(sql`feed_coverage`)}
  union all
  select * from (${unreadBatches}) as unread
  union all
  select chain_id, 'optimism-batch-blocks',
         'batch ' || batch_number || ': heights or hashes inside it do not meet'
  from explorer.optimism_batches
  where (is_contiguous and is_linked) is false
  union all
  select chain_id, 'optimism-batch-blocks',
         'border of batches ' || lower_batch || ' and ' || upper_batch
           || ': heights or hashes do not meet'
  from explorer.broken_borders
  union all
  select chain_id, 'optimism-batch-blocks', count(*) || ' blocks await an update'
  from explorer.blocks
  where is_pending_update
  group by chain_id
  union all
  select feeds.chain_id, feeds.operation, 'no census was finished yet'
  from etl.feeds
  where operation = 'factories' and ${neverWalkedWhole(sql`feeds`)}
  union all
  select chain_id, operation, count(*) || ' items in quarantine'
  from etl.quarantine
  group by chain_id, operation
  union all
  select chain_id, operation, state || coalesce(': ' || reason, '')
  from etl.feeds
  where state not in ('idle', 'running')
`;
