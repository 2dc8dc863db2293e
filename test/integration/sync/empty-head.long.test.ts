import { expect, test } from 'vitest';
import { hashOf, honestly, noItems, type Page, type PageLie } from '../../harness/kept.ts';
import { forTheEnd, lyingList, pageSize, pages, tokenOf } from './lying-list.ts';

const rows = pages * pageSize;

const [refused, again] = [1, 1];
/** An empty page that is true is a page more. */
const forThePage = 1;

/** Leads on below the newest page. */
const emptyHead: PageLie = (page, { cursor }) => (cursor === null ? { ...page, items: [] } : null);

const isTop = (cursor: string | null) => cursor?.endsWith('f'.repeat(64)) === true;

const leadsTo = (page_token: string | null): Page => ({
  items: [],
  next_page_params: { page_size: pageSize, page_token },
});

/** The head of a list whose first page is empty and names the newest operation. */
const beforeTheNewest = leadsTo(tokenOf(rows));

/** A true empty first page; a cursor above all heights is answered by another lie. */
const emptyHeadWith =
  (fromTop: PageLie): PageLie =>
  (page, request) => {
    if (request.cursor === null) return beforeTheNewest;
    return isTop(request.cursor) ? fromTop(page, request) : null;
  };

test.each<[string, PageLie]>([
  ['empty page', (page) => ({ ...page, items: [] })],
  ['end', () => noItems],
  [
    'page of another chain',
    (page) => ({
      ...page,
      items: page.items.map((item, at) => ({ ...item, hash: hashOf(9e6 - at) })),
    }),
  ],
])('an empty first page and one false %s from above it hide no row', async (_, lie) => {
  const { list, sync, expectComplete } = await lyingList();
  let falsely = lie;
  list.lie = (page, request) => {
    const served = request.cursor === null ? emptyHead : isTop(request.cursor) ? falsely : honestly;
    if (isTop(request.cursor)) falsely = honestly;
    return served(page, request);
  };

  await sync();

  await expectComplete();
});

test.each([400, 422])(
  'a service that answers a cursor above all heights with %i is followed from its empty first page',
  async (status) => {
    const { list, sync, expectComplete } = await lyingList();
    list.lie = emptyHeadWith(() => ({ status }));

    expect(await sync()).toBe(pages + forThePage + refused + again + forTheEnd);

    await expectComplete();
  },
);

test.each<[string, PageLie]>([
  ['ends', () => noItems],
  ['repeats its cursor', (_, { cursor }) => leadsTo(cursor)],
  ['lists only what is below the cursor of its first page', (_, { pageAt }) => pageAt(tokenOf(50))],
])('an empty first page is contradicted if the list %s above it', async (_, fromTop) => {
  const { list, sync, query, expectComplete } = await lyingList();
  list.lie = emptyHeadWith(fromTop);

  await sync();

  expect(await query('select failure from etl.feeds')).toEqual([{ failure: 'truncated' }]);
  list.lie = honestly;
  await sync();
  await expectComplete();
});
