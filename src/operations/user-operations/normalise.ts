import { embeddedAddress, hashOf } from '../../address/decode.ts';
import { observeAddress } from '../../address/observe.ts';
import { unknownFields } from '../../address/unknown-fields.ts';
import type { ItemRows, Place } from '../operation.ts';
import { userOperation, type UserOperation } from './decode.ts';

/** One user operation, its sender and its entry point, as rows. */
export function normaliseUserOperation(
  operation: UserOperation,
  raw: unknown,
  place: Place,
): ItemRows {
  const { address, entry_point } = operation;
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
      extra: unknownFields(userOperation, raw, embeddedAddress),
    },
    children: [],
    addresses: [
      ...(address ? [observeAddress(address, shown.address, place)] : []),
      ...(entry_point ? [observeAddress(entry_point, shown.entry_point, place)] : []),
    ],
    position: place.position,
    height: operation.block_number ?? null,
  };
}
