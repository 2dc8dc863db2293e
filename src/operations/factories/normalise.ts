import { hashOf } from '../../address/decode.ts';
import { observeAddress } from '../../address/observe.ts';
import { unknownFields } from '../../drift/unknown-fields.ts';
import { unreadBelow, unreadFields } from '../../drift/unread-values.ts';
import type { ItemRows, Place } from '../operation.ts';
import { factory as factorySchema, type Factory } from './decode.ts';

/** One factory and its address, as rows. */
export function normaliseFactory(factory: Factory, raw: unknown, place: Place): ItemRows {
  const address_hash = hashOf(factory.address);
  const { unread } = place;
  const shown = (raw as { address: unknown }).address;
  const columns = unreadFields(unread);
  return {
    key: address_hash,
    row: {
      chain_id: place.chain_id,
      address_hash,
      total_accounts: factory.total_accounts ?? null,
      extra: unknownFields(factorySchema, raw),
    },
    children: [],
    addresses: [
      observeAddress(factory.address, shown, { ...place, unread: unreadBelow(unread, 'address') }),
    ],
    untold: columns.length === 0 ? null : { columns, children: [] },
    position: place.position,
    height: null,
  };
}
