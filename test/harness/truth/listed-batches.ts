import type { ListedBatch } from '../../../simulator/batches.ts';
import { isoOf, type Row } from './row.ts';

/** Tables that the list of batches fills. */
export type ListedBatchTable = 'listed_batches' | 'optimism_batch_l1_transactions';

/** Rows of what the list of batches tells. */
export const listedBatchRows = (
  batches: readonly ListedBatch[],
): Record<ListedBatchTable, Row[]> => ({
  listed_batches: batches.map((batch) => ({
    batch_number: batch.number,
    l1_timestamp: isoOf(batch.timestampMs),
    transactions_count: batch.transactions,
    l2_start_block_number: batch.lowest,
    l2_end_block_number: batch.highest,
    batch_data_container: batch.container,
    removed_at: null,
    extra: null,
  })),
  optimism_batch_l1_transactions: batches.flatMap(({ number, l1Transactions }) =>
    l1Transactions.map((hash, position) => ({ batch_number: number, position, hash })),
  ),
});
