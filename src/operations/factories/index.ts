import { z } from 'zod';
import { embeddedAddress } from '../../load/address.ts';
import { operation } from '../define.ts';
import { count } from '../fields.ts';
import { pageToken } from '../page-token.ts';
import { ranked } from '../ranked.ts';
import { judgeRankingEnd } from './end.ts';
import { concludeRanking, noteRankingPage } from './ranking.ts';
import { factories as table, factoryHistory } from './tables.ts';

/** The wallet factories by number of accounts; each walk reads the whole list (spec 4.3 and table 2.5). */
export const factories = operation({
  name: 'factories',
  path: () => 'proxy/account-abstraction/factories',
  cursor: pageToken,
  // Changes of the count are kept for good: what is no number of accounts counts as not told.
  item: z.looseObject({ address: embeddedAddress, total_accounts: count }),
  table,
  key: 'address_hash',
  version: [],
  columns: {},
  children: {},
  concludes: [factoryHistory],
  list: ranked(
    { schedule: '0 */6 * * *' },
    { judgeEnd: judgeRankingEnd, afterPage: noteRankingPage, afterWalk: concludeRanking },
  ),
  isOffered: () => true,
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
