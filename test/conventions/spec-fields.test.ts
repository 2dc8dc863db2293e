import type { Pool } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../harness/database.ts';

/** Where a field of the API's contract is kept: `schema.table.column`. */
type Home = string;

/** An embedded address is the hash in the item's row, and all else in the addresses' tables. */
const addressFields = {
  hash: 'explorer.addresses.hash',
  name: 'explorer.addresses.name',
  ens_domain_name: 'explorer.addresses.ens_domain_name',
  is_contract: 'explorer.addresses.is_contract',
  is_scam: 'explorer.addresses.is_scam',
  is_verified: 'explorer.addresses.is_verified',
  proxy_type: 'explorer.addresses.proxy_type',
  reputation: 'explorer.addresses.reputation',
  'implementations.address_hash': 'explorer.address_implementations.implementation_hash',
  'implementations.name': 'explorer.address_implementations.name',
  'metadata.tags.meta': 'explorer.address_metadata_tags.meta',
  'metadata.tags.name': 'explorer.address_metadata_tags.name',
  'metadata.tags.ordinal': 'explorer.address_metadata_tags.ordinal',
  'metadata.tags.slug': 'explorer.address_metadata_tags.slug',
  'metadata.tags.tagType': 'explorer.address_metadata_tags.tag_type',
  'private_tags.address_hash': 'explorer.address_labels.address_hash',
  'private_tags.display_name': 'explorer.address_labels.display_name',
  'private_tags.label': 'explorer.address_labels.label',
  'public_tags.address_hash': 'explorer.address_labels.address_hash',
  'public_tags.display_name': 'explorer.address_labels.display_name',
  'public_tags.label': 'explorer.address_labels.label',
  'watchlist_names.display_name': 'explorer.address_watchlist_names.display_name',
  'watchlist_names.label': 'explorer.address_watchlist_names.label',
};

const blockScalars = [
  'base_fee_per_gas',
  'burnt_fees',
  'burnt_fees_percentage',
  'difficulty',
  'gas_limit',
  'gas_target_percentage',
  'gas_used',
  'gas_used_percentage',
  'hash',
  'height',
  'internal_transactions_count',
  'is_pending_update',
  'nonce',
  'parent_hash',
  'priority_fee',
  'size',
  'timestamp',
  'total_difficulty',
  'transaction_fees',
  'transactions_count',
  'type',
  'withdrawals_count',
];

const arbitrumFields = [
  'batch_number',
  'status',
  'batch_data_container',
  'delayed_messages',
  'l1_block_number',
  'send_count',
  'send_root',
  'commitment_transaction.hash',
  'commitment_transaction.status',
  'commitment_transaction.timestamp',
  'confirmation_transaction.hash',
  'confirmation_transaction.status',
  'confirmation_transaction.timestamp',
];

const operationScalars = [
  'block_number',
  'entry_point_version',
  'fee',
  'hash',
  'status',
  'timestamp',
  'transaction_hash',
];

const under = (table: string, fields: readonly string[]): Record<string, Home> =>
  Object.fromEntries(fields.map((field) => [field, `${table}.${field.replaceAll('.', '_')}`]));

/** Every field of the contract's tables, by table. */
const contract: Readonly<Record<string, Readonly<Record<string, Home>>>> = {
  '2.1 page envelope': {
    items: 'etl.pages.items',
    next_page_params: 'etl.pages.cursor_out',
  },
  '2.2 address': addressFields,
  '2.3 block': {
    ...under('explorer.blocks', blockScalars),
    miner: 'explorer.blocks.miner_hash',
    'rewards.reward': 'explorer.block_rewards.reward',
    'rewards.type': 'explorer.block_rewards.type',
    'rewards.address_hash': 'explorer.block_rewards.address_hash',
    'uncles_hashes.hash': 'explorer.block_uncles.hash',
    arbitrum: 'explorer.block_arbitrum.block_height',
  },
  '2.3.1 arbitrum': under('explorer.block_arbitrum', arbitrumFields),
  '2.4 user operation': {
    ...under('explorer.user_operations', operationScalars),
    address: 'explorer.user_operations.address_hash',
    entry_point: 'explorer.user_operations.entry_point_hash',
  },
  '2.5 factory': {
    address: 'explorer.factories.address_hash',
    total_accounts: 'explorer.factories.total_accounts',
  },
  '2.6 next_page_params': {
    block_number: 'etl.walks.cursor',
    items_count: 'etl.walks.cursor',
    page_size: 'etl.walks.cursor',
    page_token: 'etl.walks.cursor',
  },
};

/** How many fields each table of the contract has, counted in the contract itself. */
const counted: Readonly<Record<string, number>> = {
  '2.1 page envelope': 2,
  '2.2 address': 23,
  '2.3 block': 28,
  '2.3.1 arbitrum': 13,
  '2.4 user operation': 9,
  '2.5 factory': 2,
  '2.6 next_page_params': 4,
};

let pool: Pool;
beforeAll(async () => {
  const database = await createTestDatabase();
  ({ pool } = database);
  return () => database.drop();
});

async function texts(statement: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(statement);
  return rows.map(({ name }) => name);
}

describe.each(Object.keys(contract))('table %s of the contract', (table) => {
  const fields = contract[table] ?? {};

  test('is listed here whole', () => {
    expect(Object.keys(fields)).toHaveLength(counted[table] ?? 0);
  });

  test.each(Object.entries(fields))('has its %s in %s', async (_field, home) => {
    const columns = await texts(
      `select concat_ws('.', table_schema, table_name, column_name) as name
       from information_schema.columns where table_schema in ('explorer', 'etl')`,
    );
    expect(columns).toContain(home);
  });
});

describe('schema explorer', () => {
  test('has a comment on every table and view', async () => {
    const bare = await texts(
      `select relname as name from pg_class
       where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v', 'm')
         and coalesce(obj_description(oid, 'pg_class'), '') = ''`,
    );
    expect(bare).toEqual([]);
  });

  test('has a comment on every column', async () => {
    const bare = await texts(
      `select relname || '.' || attname as name
       from pg_class join pg_attribute on attrelid = pg_class.oid
       where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v', 'm')
         and attnum > 0 and not attisdropped
         and coalesce(col_description(attrelid, attnum), '') = ''`,
    );
    expect(bare).toEqual([]);
  });

  test('has chain_id first in every primary key', async () => {
    const others = await texts(
      `select relname as name
       from pg_class
       left join pg_index on indrelid = pg_class.oid and indisprimary
       left join pg_attribute on attrelid = pg_class.oid and attnum = indkey[0]
       where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p')
         and attname is distinct from 'chain_id'`,
    );
    expect(others).toEqual([]);
  });

  test.each(['first_seen_at', 'updated_at', 'page_id'])(
    'has a %s that is never null in every table but chains',
    async (column) => {
      const without = await texts(
        `select relname as name
         from pg_class
         left join pg_attribute on attrelid = pg_class.oid and attname = '${column}' and attnotnull
         where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p')
           and relname <> 'chains' and attname is null`,
      );
      expect(without).toEqual([]);
    },
  );

  test('holds tables at all', async () => {
    const tables = await texts(
      `select table_name as name from information_schema.tables where table_schema = 'explorer'`,
    );
    expect(tables).toEqual(expect.arrayContaining(['blocks', 'user_operations', 'factories']));
  });
});
