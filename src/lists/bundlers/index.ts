import { z } from 'zod';
import { embeddedAddress } from '../../load/address.ts';
import { operation, ranked } from '../define.ts';
import { count } from '../item-rows.ts';
import { pageToken } from '../positions.ts';
import { bundlerHistory, bundlers as table } from './tables.ts';

/** Who sends bundles of user operations to the chain, by number of operations. */
export const bundlers = operation({
  name: 'bundlers',
  path: () => 'proxy/account-abstraction/bundlers',
  cursor: pageToken('address'),
  // Changes of total_ops are kept for good: what is no number of operations counts as missing.
  item: z.looseObject({ address: embeddedAddress, total_bundles: count, total_ops: count }),
  table,
  key: ['address_hash'],
  list: ranked({ schedule: '0 0 * * *' }, { total: 'total_ops', history: bundlerHistory }),
  offer: () => 'if-named',
  guide: {
    list: 'bundlers',
    items: 'bundlers',
    about: 'Bundlers with their numbers of bundles and user operations.',
    example: () => `      # The whole list each time: one page for every 50 bundlers.
      bundlers:
        schedule: '0 0 * * *'
`,
  },
});
