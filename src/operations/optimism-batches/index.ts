import { hasOptimismBatches } from '../../chains.ts';
import { newestFirstList } from '../newest-first.ts';
import type { Cursor, ListOrder, Operation, Scope } from '../operation.ts';
import { batchCursor, listedBatch } from './decode.ts';
import { guide } from './guide.ts';
import { normaliseListedBatch } from './normalise.ts';
import { listedBatches as table, optimismBatchTransactions } from './tables.ts';

const name = 'optimism-batches';

const order: ListOrder = {
  fields: {
    height: ['number', 'internal_id'],
    time: ['l1_timestamp'],
    key: ['number', 'internal_id'],
  },
  columns: { height: 'batch_number', time: 'l1_timestamp', key: 'batch_number' },
  unit: 'batches',
  position({ id }) {
    return typeof id === 'number' ? { height: id, key: String(id) } : null;
  },
  names: 'above',
  cursorAt: ({ height }) => ({ id: height + 1 }),
  isProof: true,
};

/** The list of Optimism batches, newest first (explorer-api.md, "The list of batches"). */
export const optimismBatches: Operation<typeof listedBatch> = {
  ...newestFirstList({ name, table, order }),
  name,
  table,
  children: [{ table: optimismBatchTransactions, parentKey: ['chain_id', 'batch_number'] }],
  tables: [optimismBatchTransactions, table],
  addressColumns: [],
  questionIndexes: [
    'explorer.listed_batches_l1_timestamp',
    'explorer.optimism_batch_l1_transactions_hash',
  ],
  guide,
  defaults: {
    schedule: '*/10 * * * *',
    // A batch's counts change while its blocks are indexed.
    overlap: '1h',
    resweep: [{ depth: '1d', every: '1d' }],
  },
  isOffered: hasOptimismBatches,
  version: [],
  request: (_scope: Scope, cursor: Cursor | null, pageSize: number) => ({
    path: 'optimism/batches',
    query: { items_count: pageSize, ...cursor },
  }),
  cursor: batchCursor,
  item: listedBatch,
  normalise: normaliseListedBatch,
};
