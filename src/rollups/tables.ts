import { bigserial, date, index, numeric, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, hexText, instant, integer } from '../db/column-types.ts';

/** What is summed up, up to when it was, and whose turn it is. The migration has a row for each. */
export const rollups = etlSchema.table('rollups', {
  /** Of a table of this schema, and of the functions that find what is stale in it and sum it up. */
  name: text('name').primaryKey(),
  /** What was written before it is in the sums, or among the stale keys; null: nothing was summed up yet. */
  read_to: instant('read_to'),
  /** When all of it was last summed up again. */
  begun_at: instant('begun_at'),
});

/** What is to be summed up again. */
export const staleSums = etlSchema.table(
  'stale_sums',
  {
    name: text('name')
      .notNull()
      .references(() => rollups.name),
    chain_id: integer('chain_id').notNull(),
    key: text('key').notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.chain_id, table.key] })],
);

/**
 * Where a row that changed was counted before, so that it leaves those sums. `operation_days/senders`: of another kind
 * now. `sender_sums/blocks`: a block whose time others had from the row. By triggers.
 */
export const movedRows = etlSchema.table('moved_rows', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  name: text('name').notNull(),
  chain_id: integer('chain_id').notNull(),
  key: text('key').notNull(),
  /** `updated_at` of the row. */
  at: instant('at').notNull(),
});

/** Sums need more digits than what they are made of. */
const sum = (name: string) => numeric(name);

export const operationDays = etlSchema.table(
  'operation_days',
  {
    chain_id: integer('chain_id').notNull(),
    /** -infinity: no time is known. */
    day: date('day').notNull(),
    /** Empty: not reported. */
    entry_point_version: text('entry_point_version').notNull(),
    /** As the sender was when the day was summed up. Empty: not reported. */
    sender_kind: text('sender_kind').notNull(),
    operations: integer('operations').notNull(),
    failed: integer('failed').notNull(),
    senders: integer('senders').notNull(),
    fees: sum('fees'),
  },
  (table) => [
    primaryKey({
      columns: [table.chain_id, table.day, table.entry_point_version, table.sender_kind],
    }),
  ],
);

export const senderSums = etlSchema.table(
  'sender_sums',
  {
    chain_id: integer('chain_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    first_operation_at: instant('first_operation_at'),
    last_operation_at: instant('last_operation_at'),
    operations: integer('operations').notNull(),
    failed: integer('failed').notNull(),
    fees: sum('fees'),
    /** First days of the weeks and months of its operations, in order; -infinity: no time is known. */
    weeks: date('weeks').array().notNull(),
    months: date('months').array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.address_hash] }),
    // Queries for senders want the largest.
    index('sender_sums_operations').on(table.operations, table.chain_id),
  ],
);

/** Senders by week and month, counted from `sender_sums` by its triggers. */
export const activeSenders = etlSchema.table(
  'active_senders',
  {
    chain_id: integer('chain_id').notNull(),
    /** `week` or `month`. */
    unit: text('unit').notNull(),
    first_day: date('first_day').notNull(),
    /** First day of the month, or week, in which they began; -infinity: in an earlier week. */
    begun: date('begun').notNull(),
    senders: integer('senders').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.unit, table.first_day, table.begun] })],
);

/** How fees spread, for each day of `operation_days`. */
export const feeDays = etlSchema.table(
  'fee_days',
  {
    chain_id: integer('chain_id').notNull(),
    day: date('day').notNull(),
    operations: integer('operations').notNull(),
    /** Percentiles 10, 50, 90 and 99. */
    fees: sum('fees').array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.day] })],
);

export const blockDays = etlSchema.table(
  'block_days',
  {
    chain_id: integer('chain_id').notNull(),
    day: date('day').notNull(),
    blocks: integer('blocks').notNull(),
    first_height: integer('first_height').notNull(),
    last_height: integer('last_height').notNull(),
    first_at: instant('first_at').notNull(),
    last_at: instant('last_at').notNull(),
    transactions: sum('transactions'),
    gas_used: sum('gas_used'),
    gas_limit: sum('gas_limit'),
    burnt_fees: sum('burnt_fees'),
    transaction_fees: sum('transaction_fees'),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.day] })],
);

export const batchSums = etlSchema.table(
  'batch_sums',
  {
    chain_id: integer('chain_id').notNull(),
    batch_number: integer('batch_number').notNull(),
    first_at: instant('first_at'),
    last_at: instant('last_at'),
    blocks: integer('blocks').notNull(),
    transactions: sum('transactions'),
    size: sum('size'),
    gas_used: sum('gas_used'),
    gas_limit: sum('gas_limit'),
    burnt_fees: sum('burnt_fees'),
    transaction_fees: sum('transaction_fees'),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.batch_number] }),
    index('batch_sums_last_at').on(table.last_at, table.chain_id),
  ],
);
