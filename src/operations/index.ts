import type { z } from 'zod';
import { factories } from './factories/index.ts';
import type { Operation, OperationName } from './operation.ts';
import { optimismBatchBlocks } from './optimism-batch-blocks/index.ts';
import { userOperations } from './user-operations/index.ts';

/** Every operation by its public name; a new one is one line here. */
export const operations: Readonly<Record<OperationName, Operation<z.ZodType>>> = {
  'optimism-batch-blocks': optimismBatchBlocks,
  'user-operations': userOperations,
  factories,
};
