import { factories } from './factories.ts';
import { pipeline } from './pipeline.ts';
import { rollupBatches } from './rollup-batches.ts';
import { userOperations } from './user-operations.ts';
import { workers } from './workers.ts';

/** Those that read the database, by the names of their files. */
export const boards = {
  'user-operations': userOperations,
  'rollup-batches': rollupBatches,
  factories,
  pipeline,
} as const;

/** All. */
export const allBoards = { ...boards, workers } as const;
