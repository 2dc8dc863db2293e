import { z } from 'zod';
import { generational, textOf } from '../../drift/field-notes.ts';
import { count, hash, height, time } from '../fields.ts';
import type { Cursor } from '../operation.ts';

const number = height.max(999_999_999_999_999);
const hashes = z.array(hash.nullish()).nullish();

/** A batch as the list tells of it (explorer-api.md, "The list of batches"), with the older names of its fields. */
export const listedBatch = z
  .looseObject({
    number: generational(number.nullish()),
    internal_id: generational(number.nullish(), 'number'),
    l1_timestamp: time,
    transactions_count: generational(count),
    transaction_count: generational(count, 'transactions_count'),
    tx_count: generational(count, 'transactions_count'),
    l2_start_block_number: generational(count),
    l2_block_start: generational(count, 'l2_start_block_number'),
    l2_end_block_number: generational(count),
    l2_block_end: generational(count, 'l2_end_block_number'),
    batch_data_container: generational(
      textOf('in_blob4844', 'in_celestia', 'in_eigenda', 'in_alt_da', 'in_calldata'),
    ),
    l1_transaction_hashes: generational(hashes),
    l1_tx_hashes: generational(hashes, 'l1_transaction_hashes'),
  })
  .refine((batch) => numberOf(batch) !== null, 'number: expected the number of the batch');
export type ListedBatch = z.infer<typeof listedBatch>;

/** The number under the name that comes; null where neither does. */
export const numberOf = (batch: {
  readonly number?: number | null | undefined;
  readonly internal_id?: number | null | undefined;
}): number | null => batch.number ?? batch.internal_id ?? null;

/** A number, or its digits; null and blank are neither, and never mean 0. */
const wholeNumber = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/u)])
  .transform(Number);

/** The next page has numbers below `id`, so nothing follows 0. */
export const batchCursor = z
  .object({
    id: wholeNumber,
    // The length of the page just served, so 0 after an empty one; asked for with 0 it is refused.
    items_count: wholeNumber.nullish(),
  })
  .transform(({ id, items_count }): Cursor | null => {
    if (id === 0) return null;
    return items_count ? { id, items_count } : { id };
  });
