import { expect, test } from 'vitest';
import { noItems, oneEach, type PageLie } from '../../harness/kept.ts';
import { copiedList, lyingList, pageSize, tokenOf } from './lying-list.ts';
import { endsOn, expectOnlyRead, expectWholeHistory, pages } from './false-ends.ts';

test.each(endsOn([1, pages - 1]))(
  'history whose page %i %s is read to its true end, for a request more, or two at an empty head',
  (nth, _, end) => expectWholeHistory(nth, end),
);

test.each(endsOn([4, 1]))(
  'a live poll whose page %i %s above stored operations covers only what it read',
  (nth, _, end) => expectOnlyRead(nth, end),
);

test('a walk that begins at a cursor without a position, where nothing is listed any more, removes nothing', async () => {
  const { list, sync, query, removed } = await lyingList(oneEach(1, 600));
  let emptied = '';
  list.lie = (page, { cursor }) => {
    const next = page.next_page_params?.['page_token'];
    if (cursor !== null && cursor === emptied) return noItems;
    return next === undefined
      ? null
      : { ...page, next_page_params: { page_token: `${String(next)},e` } };
  };
  await sync();
  // Two walks read again: the second begins in the middle.
  const [middle] = await query(`
    select cursor_in ->> 'page_token' as token from etl.pages
    where cursor_in is not null order by top desc offset 29 limit 1
  `);
  emptied = String(middle?.['token']);
  await query(`update etl.feeds set settings = settings || '{"parallel": 2}'`);

  await sync({ again: true, parallel: 2 });

  expect(await query('select from etl.walks where not from_head')).toHaveLength(1);
  expect(await removed()).toEqual([]);
});

test('a full re-scan reads the page that is empty once and leads to where the next walk began', async () => {
  const { list, sync, query } = await copiedList({}, oneEach(1, 52 * pageSize));
  await query(`update etl.feeds set settings = settings || '{"parallel": 2}'`);
  await sync({ again: true });
  const [{ until }] = await query(
    "select scope -> 'until' as until from etl.walks where scope ? 'until'",
  );
  const block = Number(String(until['page_token']).split(',')[0]);
  list.operations = list.operations.map((operation) => ({ ...operation, fee: '7' }));
  const empty: PageLie[] = [() => ({ items: [], next_page_params: until })];
  list.lie = (page, request) =>
    request.cursor === tokenOf(block + pageSize) ? (empty.pop()?.(page, request) ?? null) : null;

  await sync({ again: true });

  expect(empty).toEqual([]);
  expect(await query("select hash from explorer.user_operations where fee <> '7'")).toEqual([]);
});
