import { z } from 'zod';
import { embeddedAddress } from '../../load/address.ts';
import { operation, ranked } from '../define.ts';
import { count } from '../item-rows.ts';
import { pageToken } from '../positions.ts';
import { factories as table, factoryHistory } from './tables.ts';

/** The wallet factories by number of accounts; each walk reads the whole list (spec 4.3 and table 2.5). */
export const factories = operation({
  name: 'factories',
  path: () => 'proxy/account-abstraction/factories',
  cursor: pageToken('address'),
  // Changes of the count are kept for good: what is no number of accounts counts as missing.
  item: z.looseObject({ address: embeddedAddress, total_accounts: count }),
  table,
  key: ['address_hash'],
  list: ranked({ schedule: '0 */6 * * *' }, { total: 'total_accounts', history: factoryHistory }),
  offer: () => 'usual',
  guide: {
    list: 'factories',
    items: 'factories',
    about: 'Wallet factories with their numbers of accounts.',
    example: () => `      # The whole list each time: one page for every 50 factories.
      factories:
        schedule: '0 */6 * * *'
`,
  },
});
