import {
  chainAndCurrency,
  lines,
  dashboard,
  ofDay,
  ofDays,
  rows,
  type PanelText,
} from './panels.ts';

/** A number of each batch, at the time of its last block. */
const ofBatches = (text: Omit<PanelText, 'sql'>, value: string) =>
  lines({
    ...text,
    sql: `select last_at as time, name as metric, ${value}
  from explorer.batch_stats join explorer.chains using (chain_id)
  where $__timeFilter(last_at) and chain_id in ($chain)
  order by last_at`,
  });
const named = `name || ' ' || batch_number`;

export const rollupBatches = dashboard({
  uid: 'rollup-batches',
  title: 'Rollup batches',
  about:
    'Optimism batches: how large, how full, how soon on L1, and whether all of them are there.',
  from: 'now-24h',
  panels: [
    ofBatches(
      { title: 'Blocks a batch', about: 'Of each batch, at the time of its last block.' },
      'blocks',
    ),
    ofBatches(
      {
        title: 'Gas used, percent of the limit',
        about: 'Of all blocks of a batch.',
        unit: 'percent',
      },
      'fill_percent',
    ),
    ofBatches(
      {
        title: 'Until posted to L1',
        about: 'From the last block of a batch to L1, where the list of batches is copied.',
        unit: 's',
      },
      'extract(epoch from l1_delay)::float8 as delay',
    ),
    // Bars would stand on each other: a sum of currencies.
    lines({
      title: 'Fees burnt a day',
      about: 'In the blocks that are copied, in the own currency of each chain.',
      sql: `select ${ofDay} as time, ${chainAndCurrency('daily')} as metric,
         burnt_native::float8 as burnt_native
  from explorer.chain_daily as daily join explorer.chains using (chain_id)
  where ${ofDays}
  order by day`,
    }),
    rows({
      title: 'The newest batches',
      about: 'Within the time that is shown. settled: the chain verifies the batch whole.',
      sql: `select ${named} as batch, state, blocks, transactions::bigint as transactions,
         block_seconds, fill_percent, last_at
  from explorer.batch_stats
  join explorer.chains using (chain_id)
  join explorer.read_batches using (chain_id, batch_number)
  where $__timeFilter(last_at) and chain_id in ($chain)
  order by last_at desc
  limit 50`,
    }),
  ],
});
