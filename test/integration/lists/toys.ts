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
import { numbered, operation } from '../../../src/lists/define.ts';
import { flag, hash, height, time } from '../../../src/lists/item-rows.ts';
import { batchStates } from '../../../src/lists/kind-tables.ts';
import { belowNumber } from '../../../src/lists/positions.ts';

/** A numbered list that the program does not know, as a contributor declares it; the other kinds have several of their own. */
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

/** What a registry holds of it. */
export const toys = {
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
    guide: { list: 'toy blocks', items: 'toy blocks', about: 'Toy blocks.', example: () => '' },
  }),
} as const;

/** Makes its tables, as the migration of a contributor does. */
export async function createToyTables(pool: Pool): Promise<void> {
  const tables = { toyBlocks, toyNumbers };
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson(tables));
  for (const statement of statements) await pool.query(statement);
}
