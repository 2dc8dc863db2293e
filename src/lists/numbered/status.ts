import { sql } from 'drizzle-orm';
import type { ListReach } from '../list.ts';

/** Newest batches that show how often one comes: a day of them. */
const recentBatches = 200;

/** The age of the newest batch's last block, and how many numbers are read and settled. */
export const status: ListReach = {
  progress: sql`json_build_object('batches', case when latest.scope ? 'to_batch' then (
    select json_build_object(
      'total', (latest.scope ->> 'to_batch')::bigint - (latest.scope ->> 'from_batch')::bigint + 1,
      'done', count(*)
    )
    from explorer.read_batches
    where chain_id = latest.chain_id
      and batch_number between (latest.scope ->> 'from_batch')::bigint
                           and (latest.scope ->> 'to_batch')::bigint
  ) end)`,
  // The batches are counted by etl.batch_counts.
  verified: sql`select null::bigint as positions, 0 as gaps, 0 as missing, null::timestamptz as snapshot_at`,
  newestTimes: sql`
    select (
      select timestamp from explorer.blocks
      where blocks.chain_id = feeds.chain_id and height = last_height
    ) as timestamp
    from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and blocks_count > 0
    order by batch_number desc
    limit ${recentBatches}
  `,
};
