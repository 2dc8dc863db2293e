import { factories } from './factories.ts';
import { pipeline } from './pipeline.ts';
import { rollupBatches } from './rollup-batches.ts';
import { userOperations } from './user-operations.ts';

/** By the name of its file. */
export const boards = {
  'user-operations': userOperations,
  'rollup-batches': rollupBatches,
  factories,
  pipeline,
} as const;
