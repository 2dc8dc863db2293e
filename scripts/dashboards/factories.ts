import { bars, lines, dashboard, ofDay, ofDays, rows } from './panels.ts';

export const factories = dashboard({
  uid: 'factories',
  title: 'Factories',
  about: 'Wallet factories: how many accounts each has created, and how they grow.',
  from: 'now-90d',
  panels: [
    lines({
      title: 'Accounts of the ten largest',
      about: 'At the end of each day.',
      sql: `select ${ofDay} as time, concat_ws(' ', name, left(daily.address_hash, 10), chain_id) as metric, daily.total_accounts
  from explorer.factory_daily as daily
  join explorer.factories using (chain_id, address_hash)
  where ${ofDays} and rank <= 10
  order by day`,
    }),
    bars({
      title: 'New accounts a day',
      about: 'Of all factories of a chain.',
      sql: `select ${ofDay} as time, chains.name as metric, sum(new_accounts)::bigint as accounts
  from explorer.factory_daily join explorer.chains using (chain_id)
  where ${ofDays}
  group by day, chains.name
  order by day`,
    }),
    rows({
      title: 'The ranking',
      about: 'As of the newest reading of the whole list.',
      sql: `select chains.name as chain, rank, coalesce(addresses.name, address_hash) as factory,
         total_accounts, is_verified, explorer_url || '/address/' || address_hash as link
  from explorer.factories
  join explorer.chains using (chain_id)
  left join explorer.addresses
    on addresses.chain_id = factories.chain_id and addresses.hash = address_hash
  where factories.chain_id in ($chain) and rank is not null
  order by total_accounts desc nulls last
  limit 50`,
    }),
  ],
});
