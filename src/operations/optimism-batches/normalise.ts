import { unknownFields } from '../../drift/unknown-fields.ts';
import {
  isUnread,
  unreadBelow,
  unreadFields,
  unreadMembers,
  type Unread,
} from '../../drift/unread-values.ts';
import type { ItemRows, Place, Untold } from '../operation.ts';
import { listedBatch, numberOf, type ListedBatch } from './decode.ts';

/** One batch and the L1 transactions that it was posted in, as rows. */
export function normaliseListedBatch(batch: ListedBatch, raw: unknown, place: Place): ItemRows {
  const { chain_id } = place;
  const batch_number = numberOf(batch);
  if (batch_number === null) throw new Error('the schema lets no batch pass without its number');
  const hashes = batch.l1_transaction_hashes ?? batch.l1_tx_hashes ?? [];
  return {
    key: String(batch_number),
    row: {
      chain_id,
      batch_number,
      l1_timestamp: batch.l1_timestamp ?? null,
      transactions_count:
        batch.transactions_count ?? batch.transaction_count ?? batch.tx_count ?? null,
      l2_start_block_number: batch.l2_start_block_number ?? batch.l2_block_start ?? null,
      l2_end_block_number: batch.l2_end_block_number ?? batch.l2_block_end ?? null,
      batch_data_container: batch.batch_data_container ?? null,
      // Seen again: whatever was concluded from its absence is over.
      removed_at: null,
      extra: unknownFields(listedBatch, raw),
    },
    children: [
      // A member that is null says nothing; its neighbours keep their positions.
      hashes.flatMap((hash, position) => (hash ? { chain_id, batch_number, position, hash } : [])),
    ],
    addresses: [],
    untold: untoldOf(batch, place.unread),
    position: place.position,
    height: batch_number,
  };
}

const columns: Readonly<Record<string, string>> = {
  transaction_count: 'transactions_count',
  tx_count: 'transactions_count',
  l2_block_start: 'l2_start_block_number',
  l2_block_end: 'l2_end_block_number',
};
const lists = ['l1_transaction_hashes', 'l1_tx_hashes'] as const;

function untoldOf(batch: ListedBatch, unread: Unread): Untold | null {
  const isWhole = lists.some((list) => isUnread(unread, list));
  const members = lists.flatMap((list) => unreadMembers(batch[list], unreadBelow(unread, list)));
  if (unread.length === 0 && members.length === 0) return null;
  return {
    columns: unreadFields(unread)
      .filter((field) => !lists.some((list) => list === field))
      .map((field) => columns[field] ?? field),
    children: [isWhole ? 'all' : members],
  };
}
