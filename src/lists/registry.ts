import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../db/column-types.ts';
import { addressTables } from '../load/tables.ts';
import { bundles } from './bundles/index.ts';
import { bundlers } from './bundlers/index.ts';
import { factories } from './factories/index.ts';
import type { Operation } from './operation.ts';
import { optimismBatchBlocks } from './optimism-batch-blocks/index.ts';
import { optimismBatches } from './optimism-batches/index.ts';
import { paymasters } from './paymasters/index.ts';
import { userOperations } from './user-operations/index.ts';

/** Every operation, in the order of texts; a new one is one line here. */
const all = {
  'user-operations': userOperations,
  'optimism-batches': optimismBatches,
  'optimism-batch-blocks': optimismBatchBlocks,
  factories,
  bundles,
  bundlers,
  paymasters,
} as const;

/** The public name of an operation: what configuration, flags and tables say. */
export type OperationName = keyof typeof all;

export const operations: Readonly<Record<OperationName, Operation>> = all;

export const operationNames = Object.keys(all) as readonly OperationName[];

/** False: only a newer version knows the list. */
export const isOperation = (name: string): name is OperationName => Object.hasOwn(all, name);

export const dataTables: readonly PgTable[] = [
  ...addressTables,
  ...operationNames.flatMap((name) => operations[name].tables),
];

/** The table that outgrows a machine first, and the column of its key that identifies its rows. */
export const largeTable = { name: tableName(userOperations.table), spreadBy: 'hash' } as const;
