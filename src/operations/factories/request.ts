import { pageTokenQuery } from '../page-token.ts';
import type { Cursor, Scope } from '../operation.ts';

/** Spec 4.3. */
export function requestFactories(_scope: Scope, cursor: Cursor | null, pageSize: number) {
  return {
    path: 'proxy/account-abstraction/factories',
    query: pageTokenQuery(cursor, pageSize),
  };
}
