import { z } from 'zod';
import { embeddedAddress } from '../../load/address.ts';
import { operation, ranked } from '../define.ts';
import { count } from '../item-rows.ts';
import { pageToken } from '../positions.ts';
import { paymasterHistory, paymasters as table } from './tables.ts';

/** Who pays for user operations of others, by number of operations. */
export const paymasters = operation({
  name: 'paymasters',
  path: () => 'proxy/account-abstraction/paymasters',
  cursor: pageToken('address'),
  // Changes of total_ops are kept for good: what is no number of operations counts as missing.
  item: z.looseObject({ address: embeddedAddress, total_ops: count }),
  table,
  key: ['address_hash'],
  list: ranked({ schedule: '0 0 * * *' }, { total: 'total_ops', history: paymasterHistory }),
  offer: () => 'if-named',
  guide: {
    list: 'paymasters',
    items: 'paymasters',
    about: 'Paymasters with the numbers of user operations that they paid for.',
    example: () => `      # The whole list each time: one page for every 50 paymasters.
      paymasters:
        schedule: '0 0 * * *'
`,
  },
});
