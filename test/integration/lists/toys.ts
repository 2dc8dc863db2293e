import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { boolean, index, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';
import { z } from 'zod';
import {
  explorerSchema,
  hexText,
  instant,
  integer,
  provenance,
} from '../../../src/db/column-types.ts';
import {
  batchStates,
  newestFirst,
  numbered,
  operation,
  ranked,
  rankedTables,
} from '../../../src/lists/define.ts';
import { count, flag, hash, height, time } from '../../../src/lists/item-rows.ts';
import { belowNumber, pageToken } from '../../../src/lists/positions.ts';
import { embeddedAddress } from '../../../src/load/address.ts';

/**
 * Lists that the program does not know, as a contributor declares them: one of each kind, on a chain
 * that has none of the others. A bundle's key has two columns, and its cursor three parts.
 */
const toyBundles = explorerSchema.table(
  'toy_bundles',
  {
    chain_id: integer('chain_id').notNull(),
    transaction_hash: hexText('transaction_hash').notNull(),
    bundle_index: integer('bundle_index').notNull(),
    block_number: integer('block_number'),
    timestamp: instant('timestamp'),
    bundler_hash: hexText('bundler_hash'),
    total_ops: integer('total_ops'),
    removed_at: instant('removed_at'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.transaction_hash, table.bundle_index] }),
    index('toy_bundles_block_number').on(table.chain_id, table.block_number),
  ],
);

const ranking = rankedTables('toy_bundlers', 'toy_bundler_history', 'total_ops', ['total_bundles']);
const { items: toyBundlers, history: toyBundlerHistory } = ranking;

const toyBlocks = explorerSchema.table(
  'toy_blocks',
  {
    chain_id: integer('chain_id').notNull(),
    height: integer('height').notNull(),
    hash: hexText('hash').notNull(),
    parent_hash: hexText('parent_hash'),
    timestamp: instant('timestamp'),
    is_pending_update: boolean('is_pending_update'),
    toy_number: integer('toy_number'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.height] }),
    index('toy_blocks_toy_number').on(table.toy_number, table.chain_id),
  ],
);

const toyNumbers = batchStates('toy_numbers');

const guide = (items: string) => ({
  list: items,
  items,
  about: `Toy ${items}.`,
  example: () => '',
});

/** What a registry holds of them. */
export const toys = {
  'toy-bundles': operation({
    name: 'toy-bundles',
    path: () => 'toy/bundles',
    cursor: pageToken('hash', 'number'),
    item: z.looseObject({
      transaction_hash: hash,
      bundle_index: height,
      block_number: height.nullish(),
      timestamp: time,
      bundler: embeddedAddress.nullish(),
      total_ops: count,
    }),
    table: toyBundles,
    key: ['transaction_hash', 'bundle_index'],
    list: newestFirst(
      { height: 'block_number', time: 'timestamp', unit: 'blocks' },
      { schedule: '*/5 * * * *', overlap: '5m', resweep: [] },
    ),
    offer: () => 'usual',
    guide: guide('bundles'),
  }),
  'toy-bundlers': operation({
    name: 'toy-bundlers',
    path: () => 'toy/bundlers',
    cursor: pageToken('address'),
    item: z.looseObject({ address: embeddedAddress, total_ops: count, total_bundles: count }),
    table: toyBundlers,
    key: ['address_hash'],
    list: ranked({ schedule: '0 0 * * *' }, ranking),
    offer: () => 'usual',
    guide: guide('bundlers'),
  }),
  'toy-numbers': operation({
    name: 'toy-numbers',
    path: ({ batch }) => `toy/numbers/${batch}`,
    cursor: belowNumber('block_number', 1),
    item: z.looseObject({
      height,
      hash,
      parent_hash: hash.nullish(),
      timestamp: time,
      is_pending_update: flag,
    }),
    table: toyBlocks,
    key: ['height'],
    version: ['hash'],
    list: numbered(
      { number: 'toy_number', states: toyNumbers, listed: null },
      { schedule: '*/10 * * * *' },
    ),
    offer: () => 'usual',
    guide: guide('toy blocks'),
  }),
} as const;

export const toyNames = Object.keys(toys);

/** Makes their tables, as the migration of a contributor does. */
export async function createToyTables(pool: Pool): Promise<void> {
  const tables = { toyBundles, toyBundlers, toyBundlerHistory, toyBlocks, toyNumbers };
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson(tables));
  for (const statement of statements) await pool.query(statement);
}
