import type { Cursor, Scope } from '../operation.ts';

/**
 * Spec 4.1. `items_count` is asked for on every page: generation v12 takes the page size from it
 * and leaves it out of the cursor, the older one overwrites it with its own from the cursor.
 */
export function requestBlocks(scope: Scope, cursor: Cursor | null, pageSize: number) {
  if (scope.batch === undefined) throw new Error('a walk of batch blocks names its batch');
  return {
    path: `blocks/optimism-batch/${scope.batch}`,
    query: { items_count: pageSize, ...cursor },
  };
}
