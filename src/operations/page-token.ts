import { z } from 'zod';
import type { Paging } from './define.ts';
import type { Cursor } from './operation.ts';

/**
 * Longest token that is followed, in characters. True ones have about ninety; one that grows with
 * each page would fill the ledger, until some server on the way refuses so long a URL.
 */
const longestToken = 4096;

/**
 * The cursor of the account-abstraction lists (spec 2.6, 4.2, 4.3): an opaque token, passed back unchanged.
 * It names the next page's first item; the `page_size` beside it only repeats the request's. Kept with the
 * walk, it made one that was begun in pages of 10 go on so for ever, whatever the configuration said.
 */
export const pageToken: Paging = {
  schema: z
    .object({
      page_token: z.string().min(1).max(longestToken, `is longer than ${longestToken} characters`),
    })
    .transform(({ page_token }): Cursor => ({ page_token })),
  query: (cursor, pageSize) => ({ ...cursor, page_size: pageSize }),
  /** Of user operations: the service parses it so. */
  position({ page_token }) {
    const [, height, key] = /^(\d{1,15}),(0x[0-9a-f]{64})$/iu.exec(String(page_token)) ?? [];
    return height === undefined || key === undefined
      ? null
      : { height: Number(height), key: key.toLowerCase() };
  },
  names: 'first',
  cursorAt: ({ height, key }) => ({ page_token: `${height},${key}` }),
  topOf: (height) => ({ height, key: `0x${'f'.repeat(64)}` }),
};

/**
 * The factory that a token of the factories names, lower case: the first item of the page, unless the
 * ranking changed meanwhile. Null where it is of another form.
 */
export function tokenFactory({ page_token }: Cursor): string | null {
  return /^\d{1,15},(0x[0-9a-f]{40})$/iu.exec(String(page_token))?.[1]?.toLowerCase() ?? null;
}
