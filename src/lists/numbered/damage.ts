import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from '../../db/transaction.ts';
import { readBatches } from '../../operations/optimism-batch-blocks/tables.ts';
import { places } from '../damaged-places.ts';

/** A batch that is not stored is not read: it is asked for again, and read whole. */
export async function forgetBatches(tx: Transaction): Promise<readonly PgTable[]> {
  await tx.execute(sql`
    with ${places}, height as (
      select chain_id, coalesce(key ->> 'height', key ->> 'block_height')::bigint as height
      from found
      where table_name like 'explorer.block%' and key is not null
      union
      select lost.chain_id, max(t.height)
      from lost
      join explorer.blocks as t on t.chain_id = lost.chain_id and t.miner_hash = lost.hash
      where optimism_batch_number is not null
      group by lost.chain_id, lost.hash
    ), wanted as (
      select chain_id, batch as number from page where operation = 'optimism-batch-blocks'
      union
      select chain_id, (row ->> 'optimism_batch_number')::bigint
      from found where table_name = 'explorer.blocks'
      union
      select batch.chain_id, batch.batch_number
      from height
      join explorer.read_batches as batch
        on batch.chain_id = height.chain_id
        and blocks_count > 0
        and int8range(first_height, last_height, '[]') @> height
      union
      select batch.chain_id, batch.batch_number
      from found
      join explorer.read_batches as batch using (chain_id, first_seen_at)
      where table_name = 'explorer.read_batches'
    )
    delete from explorer.read_batches as batch
    using wanted
    where batch.chain_id = wanted.chain_id and batch.batch_number = wanted.number
  `);
  await tx.execute(sql`
    delete from explorer.read_batches as batch
    using etl.block_findings as finding
    where finding.chain_id = batch.chain_id and batch_number <@ numbers
  `);
  return [readBatches];
}
