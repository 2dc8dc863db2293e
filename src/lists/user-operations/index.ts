import { sql } from 'drizzle-orm';
import { boolean, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import {
  bigNumber,
  explorerSchema,
  hexText,
  instant,
  integer,
  provenance,
} from '../../db/column-types.ts';
import { textOf } from '../../drift/fields.ts';
import { embeddedAddress } from '../../load/address.ts';
import { newestFirst, operation } from '../define.ts';
import { bigInteger, flag, hash, numberText, time } from '../item-rows.ts';
import { pageToken } from '../positions.ts';

export const userOperationsTable = explorerSchema.table(
  'user_operations',
  {
    chain_id: integer('chain_id').notNull(),
    hash: hexText('hash').notNull(),
    block_number: integer('block_number'),
    timestamp: instant('timestamp'),
    status: boolean('status'),
    address_hash: hexText('address_hash'),
    entry_point_hash: hexText('entry_point_hash'),
    entry_point_version: text('entry_point_version'),
    transaction_hash: hexText('transaction_hash'),
    fee: bigNumber('fee'),
    removed_at: instant('removed_at'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.hash] }),
    // The list's own order, in which ranges are verified complete and left operations are found.
    index('user_operations_block_number').on(table.chain_id, table.block_number, table.hash),
    index('user_operations_address_hash').on(table.address_hash, table.chain_id),
    // For those who query: docs/decisions/0012-growth.md.
    // Descending, as a history is written: pages of the index are filled, not split in half.
    index('user_operations_timestamp').on(table.timestamp.desc().nullsFirst(), table.chain_id),
    index('user_operations_transaction_hash').using('hash', table.transaction_hash),
    // Those whose time is that of their block.
    index('user_operations_timeless')
      .on(table.chain_id, table.block_number)
      .where(sql`timestamp is null`),
    // What was written since a moment: what is summed up beforehand asks for it.
    index('user_operations_updated_at')
      .using('brin', table.updated_at)
      .with({ autosummarize: true }),
    // Which rows came from some pages: the ledger is pruned of those that none did.
    index('user_operations_page').using('brin', table.page_id).with({ autosummarize: true }),
  ],
);

/** The chain's ERC-4337 user operations, newest block first (spec 4.2 and table 2.4). */
export const userOperations = operation({
  name: 'user-operations',
  path: () => 'proxy/account-abstraction/operations',
  cursor: pageToken('hash'),
  item: z.looseObject({
    hash,
    address: embeddedAddress.nullish(),
    block_number: numberText.nullish(),
    entry_point: embeddedAddress.nullish(),
    entry_point_version: textOf('v0.6', 'v0.7', 'v0.8', 'v0.9'),
    fee: bigInteger,
    status: flag,
    timestamp: time,
    transaction_hash: hash.nullish(),
  }),
  table: userOperationsTable,
  key: ['hash'],
  version: ['block_number', 'transaction_hash'],
  list: newestFirst(
    { height: 'block_number', time: 'timestamp', unit: 'blocks' },
    {
      schedule: '*/5 * * * *',
      overlap: '30s',
      resweep: [
        { depth: '5m', every: '20m' },
        { depth: '1h', every: '8h' },
        { depth: '1d', every: '8d' },
      ],
    },
  ),
  offer: () => 'usual',
  guide: {
    list: 'user operations',
    items: 'operations',
    about: 'User operations of account abstraction, newest first.',
    example:
      () => `      # The history once, down to since: one page for every 50 operations. Then what is new.
      user-operations:
        schedule: '*/5 * * * *' # one page each time, and one for every 50 new ones
        overlap: 30s # how far below the newest known one each poll reads, for those that come late
        # resweep: [{ depth: 5m, every: 20m }, { depth: 1h, every: 8h }, { depth: 1d, every: 8d }]
        #   deeper polls; each costs depth / every of the pages that are new: these, half as many
        # since: 2024-01-01 # leave older ones
`,
  },
});
