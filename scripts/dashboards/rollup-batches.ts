import { chart, dashboard, rows } from './panels.ts';
import { chainAndCurrency, ofDay, ofDays } from './when.ts';

const batchTime = '$__timeFilter(last_at) and chain_id in ($chain)';
const named = `name || ' ' || batch_number`;

export const rollupBatches = dashboard({
  uid: 'rollup-batches',
  title: 'Rollup batches',
  about:
    'Optimism batches: how large, how full, how soon on L1, and whether all of them are there.',
  from: 'now-24h',
  panels: [
    chart(
      {
        title: 'Blocks a batch',
        about: 'Of each batch, at the time of its last block.',
        sql: `select last_at as time, name as metric, blocks
  from explorer.batch_stats join explorer.chains using (chain_id)
  where ${batchTime}
  order by last_at`,
      },
      'lines',
    ),
    chart(
      {
        title: 'Gas used, percent of the limit',
        about: 'Of all blocks of a batch.',
        unit: 'percent',
        sql: `select last_at as time, name as metric, fill_percent
  from explorer.batch_stats join explorer.chains using (chain_id)
  where ${batchTime}
  order by last_at`,
      },
      'lines',
    ),
    chart(
      {
        title: 'Until posted to L1',
        about: 'From the last block of a batch to L1, where the list of batches is copied.',
        unit: 's',
        sql: `select last_at as time, name as metric, extract(epoch from l1_delay)::float8 as delay
  from explorer.batch_stats join explorer.chains using (chain_id)
  where ${batchTime} and l1_delay is not null
  order by last_at`,
      },
      'lines',
    ),
    chart(
      {
        title: 'Fees burnt a day',
        about: 'In the blocks that are copied, in the own currency of each chain.',
        sql: `select ${ofDay} as time, ${chainAndCurrency('daily')} as metric,
         burnt_native::float8 as burnt_native
  from explorer.chain_daily as daily join explorer.chains using (chain_id)
  where ${ofDays}
  order by day`,
      },
      // Bars would stand on each other: a sum of currencies.
      'lines',
    ),
    rows({
      title: 'The newest batches',
      about: 'settled: the chain verifies the batch whole.',
      sql: `select ${named} as batch, state, blocks, transactions::bigint as transactions,
         block_seconds, fill_percent, last_at
  from explorer.batch_stats
  join explorer.chains using (chain_id)
  join explorer.read_batches using (chain_id, batch_number)
  where chain_id in ($chain)
  order by last_at desc
  limit 50`,
    }),
    rows({
      title: 'Batches by state',
      about: 'Of those whose blocks were read.',
      sql: `select name as chain, state, count(*) as batches, sum(blocks_count)::bigint as blocks
  from explorer.read_batches join explorer.chains using (chain_id)
  where chain_id in ($chain)
  group by name, state
  order by name, state`,
    }),
  ],
});
