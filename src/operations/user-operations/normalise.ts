import { hashOf, type EmbeddedAddress } from '../../address/decode.ts';
import { observeAddress } from '../../address/observe.ts';
import { unknownFields } from '../../drift/unknown-fields.ts';
import { unreadBelow, unreadFields, type Unread } from '../../drift/unread-values.ts';
import type { ItemRows, Place, Untold } from '../operation.ts';
import { userOperation, type UserOperation } from './decode.ts';

/** One user operation, its sender and its entry point, as rows. */
export function normaliseUserOperation(
  operation: UserOperation,
  raw: unknown,
  place: Place,
): ItemRows {
  const { address, entry_point } = operation;
  const { unread } = place;
  const observation = (
    told: EmbeddedAddress | null | undefined,
    field: 'address' | 'entry_point',
  ) =>
    told
      ? [observeAddress(told, shown[field], { ...place, unread: unreadBelow(unread, field) })]
      : [];
  const shown = raw as { address: unknown; entry_point: unknown };
  return {
    key: operation.hash,
    row: {
      chain_id: place.chain_id,
      hash: operation.hash,
      block_number: operation.block_number ?? null,
      timestamp: operation.timestamp ?? null,
      status: operation.status ?? null,
      address_hash: address ? hashOf(address) : null,
      entry_point_hash: entry_point ? hashOf(entry_point) : null,
      entry_point_version: operation.entry_point_version ?? null,
      transaction_hash: operation.transaction_hash ?? null,
      fee: operation.fee ?? null,
      // Seen again: whatever was concluded from its absence is over.
      removed_at: null,
      extra: unknownFields(userOperation, raw),
    },
    children: [],
    addresses: [...observation(address, 'address'), ...observation(entry_point, 'entry_point')],
    untold: untoldOf(unread),
    position: place.position,
    height: operation.block_number ?? null,
  };
}

const columns: Readonly<Record<string, string>> = {
  address: 'address_hash',
  entry_point: 'entry_point_hash',
};

function untoldOf(unread: Unread): Untold | null {
  if (unread.length === 0) return null;
  return { columns: unreadFields(unread).map((field) => columns[field] ?? field), children: [] };
}
