/** One way to damage rows, and what `verify --rows` must say of it. */
export interface Damage {
  readonly what: string;
  readonly sql: string;
  /** Each must be among the findings. */
  readonly named: readonly RegExp[];
}

const gone = (table: string, rows = 1) =>
  new RegExp(
    `^explorer\\.${table}: chain 10: ${rows} of \\d+ rows? gone, first stored at .* with 10/`,
  );
const changed = (table: string, key = '10, .*') =>
  new RegExp(`^explorer\\.${table} \\(${key}\\): not as the program wrote it$`);

/** A row in the middle of a table, by its physical place: no two tests need the same key. */
const oneOf = (table: string, where = 'true', skip = 3) =>
  `ctid = (select ctid from explorer.${table} where ${where} order by chain_id, ${table}::text offset ${skip} limit 1)`;

const remove = (table: string, where = 'true', skip = 3): Damage => ({
  what: `a row of ${table} deleted${where === 'true' ? '' : ` where ${where}`}`,
  sql: `delete from explorer.${table} where ${oneOf(table, where, skip)}`,
  named: [gone(table)],
});

const change = (table: string, set: string, where = 'true', skip = 3): Damage => ({
  what: `${table}: ${set}`,
  sql: `update explorer.${table} set ${set} where ${oneOf(table, where, skip)}`,
  named: [changed(table)],
});

/** As a restore or a replica does it: no trigger and no foreign key is heard. */
const silently = (damage: Damage): Damage => ({
  ...damage,
  what: `${damage.what}, silently`,
  sql: `begin; set local session_replication_role = replica; ${damage.sql}; commit`,
});

const empty = (table: string, cascade = ''): Damage => ({
  what: `${table} truncated ${cascade}`,
  sql: `truncate explorer.${table} ${cascade}`,
  named: [new RegExp(`^explorer\\.${table}: chain 10: (\\d+) of \\1 rows? gone`)],
});

const middle = `batch_number = 2`;

/** More than fifty, of every table that pages fill. */
export const damages: readonly Damage[] = [
  remove('user_operations'),
  silently(remove('user_operations', 'true', 100)),
  {
    what: 'all operations of a stretch deleted',
    sql: `delete from explorer.user_operations where block_number between
          (select percentile_disc(0.4) within group (order by block_number) from explorer.user_operations)
          and (select percentile_disc(0.6) within group (order by block_number) from explorer.user_operations)`,
    named: [/^explorer\.user_operations: chain 10: \d+ of \d+ rows? gone/],
  },
  {
    what: 'the newest operation deleted',
    sql: `delete from explorer.user_operations where block_number =
          (select max(block_number) from explorer.user_operations)`,
    named: [/^explorer\.user_operations: chain 10: \d+ of \d+ rows? gone/],
  },
  {
    what: 'the oldest operation deleted',
    sql: `delete from explorer.user_operations where block_number =
          (select min(block_number) from explorer.user_operations)`,
    named: [/^explorer\.user_operations: chain 10: \d+ of \d+ rows? gone/],
  },
  change('user_operations', 'fee = fee + 1'),
  change('user_operations', 'fee = null'),
  change('user_operations', 'status = not status', 'status is not null'),
  change('user_operations', 'block_number = block_number + 100000'),
  change('user_operations', 'block_number = 9223372036854775807'),
  change('user_operations', `hash = '0x' || repeat('e', 64)`),
  change('user_operations', 'removed_at = now()'),
  change('user_operations', 'page_id = page_id + 1'),
  change('user_operations', `first_seen_at = first_seen_at - interval '1 day'`),
  change('user_operations', `timestamp = timestamp + interval '1 microsecond'`),
  change('user_operations', `extra = '{"x": 1}'`),
  change('user_operations', `digest = digest + 1`),
  {
    what: 'an operation added',
    sql: `insert into explorer.user_operations (chain_id, hash, block_number, page_id)
          values (10, '0x' || repeat('d', 64), 5, 1)`,
    named: [
      changed('user_operations', `10, 0x${'d'.repeat(64)}`),
      /^explorer\.user_operations: chain 10: 1 row that the program did not write/,
    ],
  },
  empty('user_operations'),
  remove('blocks', 'optimism_batch_number = 2', 20),
  silently(remove('blocks', 'optimism_batch_number = 3', 20)),
  change('blocks', `hash = '0x' || repeat('f', 64)`, 'optimism_batch_number = 2', 20),
  silently(change('blocks', `hash = '0x' || repeat('f', 64)`, 'optimism_batch_number = 2', 20)),
  change('blocks', 'optimism_batch_number = 3', 'optimism_batch_number = 2', 20),
  change('blocks', 'optimism_batch_number = null', 'optimism_batch_number = 2', 20),
  change('blocks', 'is_pending_update = true', 'optimism_batch_number = 2', 20),
  change('blocks', 'gas_used = gas_used + 1', 'gas_used is not null'),
  change('blocks', 'burnt_fees_percentage = 0.5'),
  empty('blocks', 'cascade'),
  remove('block_rewards'),
  change('block_rewards', 'reward = reward + 1'),
  remove('block_uncles', 'true', 0),
  change('block_uncles', `hash = '0x' || repeat('9', 64)`, 'true', 0),
  remove('block_arbitrum'),
  change('block_arbitrum', 'delayed_messages = 77'),
  empty('block_arbitrum'),
  remove('read_batches', middle, 0),
  change('read_batches', 'blocks_count = blocks_count - 1', middle, 0),
  change('read_batches', `state = 'open'`, middle, 0),
  empty('read_batches'),
  remove('listed_batches', middle, 0),
  silently(remove('listed_batches', middle, 0)),
  change('listed_batches', 'transactions_count = 1', middle, 0),
  change('listed_batches', 'l2_end_block_number = 5', middle, 0),
  empty('listed_batches', 'cascade'),
  remove('optimism_batch_l1_transactions', middle, 0),
  change('optimism_batch_l1_transactions', `hash = '0x' || repeat('9', 64)`, middle, 0),
  remove('factories'),
  change('factories', 'total_accounts = total_accounts + 1'),
  change('factories', 'rank = rank + 1'),
  change('factories', 'missing_since = now()'),
  empty('factories', 'cascade'),
  remove('factory_history'),
  change('factory_history', 'total_accounts = 0'),
  remove('addresses'),
  silently(remove('addresses', 'true', 8)),
  change('addresses', `name = 'somebody'`, 'name is not null'),
  change('addresses', 'is_contract = null', 'is_contract'),
  change('addresses', 'is_scam = true', 'is_scam is not true'),
  change('addresses', `ens_domain_name = 'x.eth'`),
  empty('addresses', 'cascade'),
  remove('address_implementations', 'true', 0),
  change('address_implementations', `name = 'another'`, 'true', 0),
  remove('address_labels', `kind = 'public'`, 0),
  change('address_labels', `label = 'another'`, 'true', 0),
  remove('address_metadata_tags', 'true', 0),
  change('address_metadata_tags', 'ordinal = 99', 'true', 0),
  remove('address_watchlist_names', 'true', 0),
  change('address_watchlist_names', `display_name = 'another'`, 'true', 0),
  {
    what: 'a chain deleted',
    sql: 'delete from explorer.chains',
    named: [/^explorer\.chains \(10\): gone, though it has feeds$/],
  },
  {
    what: 'a chain renamed',
    sql: `update explorer.chains set name = 'another'`,
    named: [/^explorer\.chains \(10\): not as the program wrote it$/],
  },
];
