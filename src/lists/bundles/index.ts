import { index, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';
import { embeddedAddress } from '../../load/address.ts';
import { newestFirst, operation } from '../define.ts';
import { hash, numberText, time } from '../item-rows.ts';
import { pageToken } from '../positions.ts';

export const bundlesTable = explorerSchema.table(
  'bundles',
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
    index('bundles_block_number').on(
      table.chain_id,
      table.block_number,
      table.transaction_hash,
      table.bundle_index,
    ),
    // As those of user_operations: for questions of some days, and to prune the ledger.
    index('bundles_timestamp').on(table.timestamp.desc().nullsFirst(), table.chain_id),
    index('bundles_page').using('brin', table.page_id).with({ autosummarize: true }),
  ],
);

/** The chain's bundles of ERC-4337 user operations, newest block first. */
export const bundles = operation({
  name: 'bundles',
  path: () => 'proxy/account-abstraction/bundles',
  cursor: pageToken('hash', 'number'),
  item: z.looseObject({
    transaction_hash: hash,
    bundle_index: numberText,
    block_number: numberText.nullish(),
    bundler: embeddedAddress.nullish(),
    timestamp: time,
    total_ops: numberText.nullish(),
  }),
  table: bundlesTable,
  key: ['transaction_hash', 'bundle_index'],
  version: ['block_number'],
  list: newestFirst(
    { height: 'block_number', time: 'timestamp', unit: 'blocks' },
    // A bundle's operations change while its block may be replaced.
    {
      schedule: '0 * * * *',
      overlap: '5m',
      resweep: [
        { depth: '1h', every: '8h' },
        { depth: '1d', every: '8d' },
      ],
    },
  ),
  offer: () => 'if-named',
  guide: {
    list: 'bundles',
    items: 'bundles',
    about: 'Bundles of user operations with their bundlers, newest first.',
    example:
      () => `      # Who bundled which operations. The history once: one page for every 50 bundles. Then what is new.
      bundles:
        schedule: '0 * * * *' # one page each time, and one for every 50 new ones
        overlap: 5m # how far below the newest known one each poll reads, since counts still change
`,
  },
});
