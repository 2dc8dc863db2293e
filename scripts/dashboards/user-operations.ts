import {
  chainAndCurrency,
  bars,
  lines,
  currency,
  dashboard,
  number,
  numbers,
  ofDay,
  ofDays,
  rows,
} from './panels.ts';

export const userOperations = dashboard({
  uid: 'user-operations',
  title: 'User operations',
  about: 'ERC-4337 user operations: how many, how many failed, for what fees, by whom.',
  from: 'now-90d',
  panels: [
    number({
      title: 'Operations',
      about: 'Operations of the days that are shown.',
      sql: `select sum(operations)::bigint as operations from explorer.operations_daily
  where ${ofDays}`,
    }),
    number({
      title: 'Failed',
      about: 'The share of them that failed.',
      unit: 'percent',
      sql: `select 100.0 * sum(failed) / nullif(sum(operations), 0) as failed from explorer.operations_daily
  where ${ofDays}`,
    }),
    numbers({
      title: 'Fees',
      about: 'What they cost together, in each currency.',
      sql: `select ${currency('daily')} as currency, sum(fee_native)::float8 as fee_native
  from explorer.operations_daily as daily
  join explorer.chains using (chain_id)
  where ${ofDays}
  group by currency
  order by currency`,
    }),
    number({
      title: 'New accounts',
      about: 'Accounts whose first operation is in the time that is shown.',
      sql: `select count(*) as senders from explorer.senders
  where $__timeFilter(first_operation_at) and chain_id in ($chain)`,
    }),
    bars({
      title: 'Operations a day, by entry point',
      about: 'One version of the entry point replaces another.',
      sql: `select ${ofDay} as time, coalesce(entry_point_version, 'not reported') as metric,
         sum(operations)::bigint as operations
  from explorer.operations_daily
  where ${ofDays}
  group by day, entry_point_version
  order by day`,
    }),
    lines({
      title: 'Failed, percent',
      about: 'Of the operations of each day and chain.',
      unit: 'percent',
      sql: `select ${ofDay} as time, name as metric,
         (100.0 * sum(failed) / nullif(sum(operations), 0))::float8 as failed
  from explorer.operations_daily
  join explorer.chains using (chain_id)
  where ${ofDays}
  group by day, name
  order by day`,
    }),
    // Bars would stand on each other: a sum of currencies.
    lines({
      title: 'Fees a day',
      about: 'Of each chain, in its own currency.',
      sql: `select ${ofDay} as time, ${chainAndCurrency('daily')} as metric,
         sum(fee_native)::float8 as fee_native
  from explorer.operations_daily as daily
  join explorer.chains using (chain_id)
  where ${ofDays}
  group by day, metric
  order by day`,
    }),
    bars({
      title: 'New accounts a day',
      about: 'Accounts whose first operation was on that day.',
      sql: `select date_trunc('day', first_operation_at, 'UTC') as time, chains.name as metric,
         count(*) as senders
  from explorer.senders
  join explorer.chains using (chain_id)
  where $__timeFilter(first_operation_at) and chain_id in ($chain)
  group by time, chains.name
  order by time`,
    }),
    rows({
      title: 'Who sends most',
      about:
        'Senders whose first and last operations surround or touch the shown time, with all their operations.',
      sql: `select chains.name as chain, coalesce(senders.name, address_hash) as sender, operations, failed,
         fee_native::float8 as fee_native, senders.native_symbol, last_operation_at,
         explorer_url || '/address/' || address_hash as link
  from explorer.senders
  join explorer.chains using (chain_id)
  where chain_id in ($chain)
    and last_operation_at >= $__timeFrom() and first_operation_at <= $__timeTo()
  order by operations desc
  limit 20`,
    }),
    rows({
      title: 'The newest operations',
      about: 'Within the time that is shown.',
      sql: `select block_time as timestamp, blockchain as chain, userop_hash as hash,
         coalesce(sender_name, sender) as sender,
         entry_point_version as version, success as status, fee_native::float8 as fee_native,
         operations.native_symbol, explorer_url || '/op/' || userop_hash as link
  from explorer.operations_enriched as operations
  join explorer.chains using (chain_id)
  where $__timeFilter(block_time) and chain_id in ($chain)
  order by block_time desc
  limit 50`,
    }),
  ],
});
