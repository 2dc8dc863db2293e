import { newestFirstList } from '../newest-first.ts';
import type { ListOrder, Operation } from '../operation.ts';
import { pageTokenCursor, tokenAt, tokenPosition } from '../page-token.ts';
import { userOperation } from './decode.ts';
import { guide } from './guide.ts';
import { normaliseUserOperation } from './normalise.ts';
import { requestUserOperations } from './request.ts';
import { userOperations as table } from './tables.ts';

const name = 'user-operations';

const order: ListOrder = {
  fields: { height: ['block_number'], time: ['timestamp'], key: ['hash'] },
  columns: { height: 'block_number', time: 'timestamp', key: 'hash' },
  unit: 'blocks',
  position: tokenPosition,
  names: 'first',
  cursorAt: tokenAt,
  isProof: true,
};

/** The chain's ERC-4337 user operations, newest block first (spec 4.2). */
export const userOperations: Operation<typeof userOperation> = {
  ...newestFirstList({ name, table, order }),
  name,
  table,
  children: [],
  tables: [table],
  addressColumns: ['address_hash', 'entry_point_hash'],
  questionIndexes: ['explorer.user_operations_address_hash'],
  guide,
  defaults: {
    schedule: '*/5 * * * *',
    overlap: '30s',
    resweep: [
      { depth: '5m', every: '20m' },
      { depth: '1h', every: '8h' },
      { depth: '1d', every: '8d' },
    ],
  },
  isOffered: () => true,
  version: ['block_number', 'transaction_hash'],
  request: requestUserOperations,
  cursor: pageTokenCursor,
  item: userOperation,
  normalise: normaliseUserOperation,
};
