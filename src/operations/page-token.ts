import { z } from 'zod';
import type { Cursor } from './operation.ts';

/**
 * Longest token that is followed, in characters. True ones have about ninety; one that grows with
 * each page would fill the ledger, until some server on the way refuses so long a URL.
 */
const longestToken = 4096;

/**
 * The cursor of the account-abstraction lists (spec 2.6): an opaque token, passed back unchanged. It
 * names the next page's first item; the `page_size` beside it only repeats the request's. Kept with the
 * walk, it made one that was begun in pages of 10 go on so for ever, whatever the configuration said.
 */
export const pageTokenCursor = z
  .object({
    page_token: z.string().min(1).max(longestToken, `is longer than ${longestToken} characters`),
  })
  .transform(({ page_token }): Cursor => ({ page_token }));

/** The query of one page of an account-abstraction list (spec 4.2 and 4.3). */
export function pageTokenQuery(cursor: Cursor | null, pageSize: number): Cursor {
  return { ...cursor, page_size: pageSize };
}
