import { dashboard, number, rows } from './panels.ts';

/** As SQL: a feed by the name of its chain. */
const feed = `chains.name || '/' || operation as feed`;

export const pipeline = dashboard({
  uid: 'pipeline',
  title: 'Pipeline',
  about: 'What is copied, how current it is, what is missing, and what it costs.',
  from: 'now-7d',
  panels: [
    number(
      {
        title: 'Gaps',
        about: 'Ranges that are wanted and not verified complete.',
        sql: 'select count(*) as gaps from explorer.gaps where chain_id in ($chain)',
      },
      1,
    ),
    number(
      {
        title: 'In quarantine',
        about: 'Items that could not become rows, and wait.',
        sql: `select count(*) as items from explorer.quarantine
  where chain_id in ($chain) and dropped_at is null`,
      },
      1,
    ),
    number({
      title: 'Credits spent today',
      about: 'Of all keys, UTC.',
      sql: `select coalesce(sum(spent), 0)::bigint as credits from explorer.credits
  where day = (now() at time zone 'UTC')::date`,
    }),
    number({
      title: 'Late items',
      about: 'That appeared where their list had been complete, in the time that is shown.',
      sql: `select count(*) as items from explorer.late_arrivals
  where $__timeFilter(seen_at) and chain_id in ($chain)`,
    }),
    rows({
      title: 'How current',
      about: 'looked_at: when the head of the list was last read.',
      sql: `select ${feed}, newest_at, looked_at, objective::text as objective, is_fresh, covered_to, unit
  from explorer.freshness join explorer.chains using (chain_id)
  where chain_id in ($chain) and is_wanted
  order by feed`,
    }),
    rows({
      title: 'What is complete',
      about: 'Ranges of blocks or batches, and rankings, as of a time.',
      sql: `select ${feed}, unit, from_block, to_block, from_at, to_at, as_of
  from explorer.coverage join explorer.chains using (chain_id)
  where chain_id in ($chain)
  order by feed, from_block desc
  limit 100`,
    }),
    rows({
      title: 'What is missing',
      about: 'explorer-etl repair reads it, and says what it costs.',
      sql: `select ${feed}, unit, from_block, to_block, from_at, to_at
  from explorer.gaps join explorer.chains using (chain_id)
  where chain_id in ($chain)
  order by feed, from_block
  limit 100`,
    }),
    rows({
      title: 'Keys',
      about: 'What each key has spent and has left.',
      sql: 'select day, spent, remaining, daily_limit, paused_until, pause_class from explorer.credits',
    }),
  ],
});
