import { pageTokenQuery } from '../page-token.ts';
import type { Cursor, Scope } from '../operation.ts';

/** Spec 4.2. */
export function requestUserOperations(_scope: Scope, cursor: Cursor | null, pageSize: number) {
  return {
    path: 'proxy/account-abstraction/operations',
    query: pageTokenQuery(cursor, pageSize),
  };
}
