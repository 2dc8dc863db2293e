import type { Operation } from '../operation.ts';
import { pageTokenCursor, tokenPosition } from '../page-token.ts';
import { userOperation } from './decode.ts';
import { noteChanges } from './changes.ts';
import { guide } from './guide.ts';
import { judgeListEnd, removeBelow } from './end.ts';
import { normaliseUserOperation } from './normalise.ts';
import { requestUserOperations } from './request.ts';
import { userOperations as table } from './tables.ts';

/** The chain's ERC-4337 user operations, newest block first (spec 4.2). */
export const userOperations: Operation<typeof userOperation> = {
  name: 'user-operations',
  kind: 'newest-first',
  table,
  children: [],
  tables: [table],
  addressColumns: ['address_hash', 'entry_point_hash'],
  questionIndexes: ['explorer.user_operations_address_hash'],
  guide,
  version: ['block_number', 'transaction_hash'],
  request: requestUserOperations,
  cursor: pageTokenCursor,
  item: userOperation,
  normalise: normaliseUserOperation,
  afterPage: noteChanges,
  order: {
    height: 'block_number',
    time: 'timestamp',
    key: 'hash',
    position: tokenPosition,
    isProof: true,
  },
  decidesMembership: false,
  judgeEnd: judgeListEnd,
  afterWalk: removeBelow,
};
