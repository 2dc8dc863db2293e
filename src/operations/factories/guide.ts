import type { Guide } from '../operation.ts';

/** Factories as people meet them. */
export const guide: Guide = {
  items: 'factories',
  about: 'Wallet factories with their numbers of accounts.',
  example: () => `      # The whole list each time: one page for every 50 factories.
      factories:
        schedule: '0 */6 * * *'
`,
  question: 'Which factories lead, and what is known of their contracts?',
  sql: `select factories.chain_id, rank, total_accounts, address_hash, name, is_verified
from explorer.factories
join explorer.addresses on (addresses.chain_id, hash) = (factories.chain_id, address_hash)
where rank <= 3
order by factories.chain_id, rank`,
};
