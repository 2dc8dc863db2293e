import type { Page, PageLie } from '../../harness/kept.ts';
import { pageSize, pages, tokenOf } from './lying-list.ts';

export const rows = pages * pageSize;

/** An empty page that is true is a page more. */
export const forThePage = 1;

/** Leads on below the newest page. */
export const emptyHead: PageLie = (page, { cursor }) =>
  cursor === null ? { ...page, items: [] } : null;

export const isTop = (cursor: string | null) => cursor?.endsWith('f'.repeat(64)) === true;

export const leadsTo = (page_token: string | null): Page => ({
  items: [],
  next_page_params: { page_size: pageSize, page_token },
});

/** The head of a list whose first page is empty and names the newest operation. */
export const beforeTheNewest = leadsTo(tokenOf(rows));
