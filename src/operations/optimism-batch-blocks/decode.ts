import { z } from 'zod';
import { addressHash, embeddedAddress } from '../../address/decode.ts';
import { generational, textOf } from '../../drift/field-notes.ts';
import { bigInteger, count, flag, hash, height, percentage, text, time } from '../fields.ts';

const reward = z.looseObject({
  reward: bigInteger,
  // Free text in older versions, such as "Miner Reward".
  type: text,
  // In the older shape only.
  address_hash: generational(addressHash.nullish()),
});

const anchorTransaction = z
  .looseObject({
    hash: hash.nullish(),
    status: textOf('unfinalized', 'finalized'),
    timestamp: time,
  })
  .nullish();

const arbitrum = z.looseObject({
  batch_number: count,
  commitment_transaction: anchorTransaction,
  confirmation_transaction: anchorTransaction,
  status: textOf('Confirmed on base', 'Sent to base', 'Sealed on rollup', 'Processed on rollup'),
  batch_data_container: textOf(
    'in_blob4844',
    'in_calldata',
    'in_celestia',
    'in_anytrust',
    'in_eigenda',
  ),
  delayed_messages: count,
  l1_block_number: count,
  send_count: count,
  send_root: hash.nullish(),
});

/** A block: the spec's tables 2.3 and 2.3.1, with the older names of the same fields. */
export const block = z.looseObject({
  hash,
  height,
  parent_hash: hash.nullish(),
  timestamp: time,
  type: text,
  miner: embeddedAddress.nullish(),
  nonce: text,
  size: count,
  is_pending_update: flag,
  transactions_count: generational(count),
  transaction_count: generational(count, 'transactions_count'),
  tx_count: generational(count, 'transactions_count'),
  internal_transactions_count: count,
  withdrawals_count: count,
  gas_limit: bigInteger,
  gas_used: bigInteger,
  gas_used_percentage: percentage,
  gas_target_percentage: percentage,
  base_fee_per_gas: bigInteger,
  burnt_fees: bigInteger,
  burnt_fees_percentage: percentage,
  priority_fee: bigInteger,
  transaction_fees: bigInteger,
  difficulty: bigInteger,
  total_difficulty: bigInteger,
  rewards: z.array(reward.nullish()).nullish(),
  uncles_hashes: z.array(z.looseObject({ hash: hash.nullish() }).nullish()).nullish(),
  arbitrum: arbitrum.nullish(),
});
export type Block = z.infer<typeof block>;

/** A number, or its digits; null and blank are neither, and never mean 0. */
const wholeNumber = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/u)])
  .transform(Number);

/**
 * Where the next page begins. Block 0 as a cursor is read by the service as "no cursor" and serves
 * page 1 again, and nothing is below block 1 but block 0, so both mean the end.
 */
export const blockCursor = z
  .object({
    block_number: wholeNumber,
    // The length of the page just served, so 0 after an empty one; asked for with 0 it is refused.
    items_count: wholeNumber.nullish(),
  })
  .transform(({ block_number, items_count }) => {
    if (block_number <= 1) return null;
    return items_count ? { block_number, items_count } : { block_number };
  });
