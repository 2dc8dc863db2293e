import { expect, test } from 'vitest';
import { hashOf, honestly, noItems, type PageLie } from '../../harness/kept.ts';
import { beforeTheNewest, emptyHead, forThePage, isTop, leadsTo } from './empty-head.ts';
import { forTheEnd, lyingList, pages, tokenOf } from './lying-list.ts';

const [refused, headOnceMore] = [1, 1];

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

    expect(await sync()).toBe(pages + forThePage + refused + headOnceMore + forTheEnd);

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
