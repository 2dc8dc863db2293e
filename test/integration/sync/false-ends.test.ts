import { describe, expect, test } from 'vitest';
import { honestly, noItems, oneEach, type PageLie } from '../../harness/kept.ts';
import { endsOn, expectOnlyRead, expectWholeHistory, rows, shortList } from './false-ends.ts';
import { copiedList, forTheEnd, lyingList, pageSize, reversed, tokenOf } from './lying-list.ts';

/** The first page that is answered falsely, counted from the head; 70 of 120 rows are not reached. */
const falsePage = 6;
const named = rows - (falsePage - 1) * pageSize;

/** One request is answered four times before it counts as failed. */
const answers = 4;
// More pages of either are in `false-ends.long.test.ts`.

test.each(endsOn([10]))(
  'history whose page %i %s is read to its true end, for a request more, or two at an empty head',
  (nth, _, end) => expectWholeHistory(nth, end),
);

test('a list that is empty twice is complete with two requests', async () => {
  const { sync, expectComplete } = await lyingList([]);

  expect(await sync()).toBe(1 + forTheEnd);

  await expectComplete();
});

test.each(endsOn([1, 4]).slice(0, 2))(
  'a live poll whose page %i %s above stored operations covers only what it read',
  (nth, _, end) => expectOnlyRead(nth, end),
);

test('a page without the field next_page_params ends no list, however often it is repeated', async () => {
  const { list, sync, open, expectComplete } = await shortList();
  list.lie = ({ items }, { cursor }) => (cursor === tokenOf(named) ? { items } : null);

  expect(await sync()).toBe(falsePage - 1 + answers);

  expect((await open()).join()).toMatch(
    /envelope-invalid: .*next_page_params: .*received undefined/u,
  );
  list.lie = honestly;
  await sync();
  await expectComplete();
});

test('the ledger counts the requests that show whether the last operation has left', async () => {
  const { list, sync, query, removed } = await copiedList({}, oneEach(1, 30));
  list.operations = oneEach(2, 30);
  const [{ id }] = await query('select max(id) as id from etl.pages');

  const requests = await sync({ again: true });

  expect(await removed()).toHaveLength(1);
  expect(
    await query(`select sum(attempts)::int as attempts from etl.pages where id > ${id}`),
  ).toEqual([{ attempts: requests }]);
});

test.each([
  ['right above', [1, 5, 1_000, 2_000]],
  ['far below', [1, 5, 1_000, 1_500, 2_000, 2_005]],
])(
  'a poll of a short list that ends %s its stop height removes what has left below',
  async (_, blocks) => {
    const operations = blocks.map((block) => ({ block, id: block }));
    const { list, sync, removed, expectComplete } = await copiedList({}, operations);
    list.operations = operations.slice(2);

    await sync();

    expect(await removed()).toHaveLength(2);
    expect(await sync()).toBe(1);
    await expectComplete();
  },
);

/** A cursor that names no operation, below all of a list that begins at block 20. */
const farDown = { page_token: `19,0x${'f'.repeat(64)}`, page_size: pageSize };

test.each<[string, PageLie]>([
  ['a cursor', (page) => ({ ...page, next_page_params: farDown })],
  ['an empty page', () => ({ items: [], next_page_params: farDown })],
])('an empty end to which %s skips hides and removes no operation', async (_, lie) => {
  const { list, sync, open, removed, expectComplete } = await lyingList(oneEach(20, 100));
  const skips: PageLie = (page, request) =>
    request.cursor === tokenOf(60) ? lie(page, request) : null;
  list.lie = skips;
  await sync();
  expect(await open()).toEqual([expect.stringMatching(/^blocks 0 to \d+: not downloaded$/u)]);

  list.lie = honestly;
  await sync();
  list.lie = skips;
  await sync({ again: true });

  expect(await removed()).toEqual([]);
  await expectComplete();
});

test('a head of one operation whose cursor skips to an empty end removes none', async () => {
  const { list, sync, removed, expectComplete } = await copiedList({}, oneEach(20, 100));
  list.lieOnce(1, ({ items }) => ({ items: items.slice(0, 1), next_page_params: farDown }));

  await sync({ again: true });

  expect(await removed()).toEqual([]);
  await expectComplete();
});

describe('an empty page at a cursor that names an operation', () => {
  test('is no end of the list, however often it is repeated, and the list is completed later', async () => {
    const { list, sync, open, expectComplete } = await shortList();
    list.lie = (_, { cursor }) => (cursor === tokenOf(named) ? noItems : null);

    expect(await sync()).toBe(falsePage - 1 + answers);
    expect((await open()).join()).toContain(
      `truncated: HTTP 200, it lists nothing from block ${named} on`,
    );
    await sync();
    expect(await open()).toContain('blocks 0 to 71: not downloaded');

    list.lie = honestly;
    await sync();
    await expectComplete();
  });

  test('leaves nothing open after the next sync if all items from there on have really left', async () => {
    const { list, sync, open, expectComplete } = await shortList();
    list.onRequest = ({ cursor }) => {
      if (cursor === tokenOf(named)) {
        list.operations = list.operations.filter(({ block }) => block > named);
      }
    };
    await sync();
    expect(await open()).not.toEqual([]);

    await sync();

    await expectComplete();
  });
});

describe('a list that ends above stored operations for a while', () => {
  const shorter = 0.5 * rows;

  /** The first copy is of a list that lies, until it is complete. */
  async function truncated(left: number, lie: PageLie = honestly) {
    const world = await lyingList(oneEach(1, rows));
    world.list.lie = lie;
    await world.sync();
    world.list.lie = honestly;
    await world.sync();
    await world.expectComplete();
    const all = world.list.operations;
    world.list.operations = all.filter(({ block }) => block > rows - left);
    const restore = () => (world.list.operations = all);
    return { ...world, restore };
  }

  test('removes none of them if they are more than a page, and the feed is open', async () => {
    const { restore, sync, open, removed, expectComplete } = await truncated(shorter);

    const requests = await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect((await open()).join()).toMatch(
      /truncated: .*it ends at block 61, but more than 10 items are stored below/u,
    );
    expect(requests).toBe(shorter / pageSize + answers - 1);
    restore();
    await sync({ again: true });
    await expectComplete();
  });

  test('removes none of them if its last page is out of order at first', async () => {
    const { list, sync, open, removed } = await truncated(shorter + 3);
    list.lieOnce(shorter / pageSize + 1, reversed);

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect((await open()).join()).toMatch(/truncated: .*it ends at block 58/u);
  });

  test('removes none of them if each page that showed them had an item out of order', async () => {
    const lastTooLow: PageLie = ({ items, ...page }) => ({
      ...page,
      items: items.map((item, at) =>
        at === pageSize - 1
          ? { ...item, block_number: String(Number(item['block_number']) - 3) }
          : item,
      ),
    });
    const { sync, open, removed } = await truncated(shorter, lastTooLow);

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect((await open()).join()).toContain('more than 10 items are stored below');
  });

  test('is accepted once a person marks the others as removed', async () => {
    const { query, sync, open, removed } = await truncated(shorter);
    await sync({ again: true });
    await query(`
      update explorer.user_operations set removed_at = now()
      where chain_id = 10 and block_number < 61 and removed_at is null`);

    await sync({ again: true });

    expect(await removed()).toHaveLength(rows - shorter);
    expect(await open()).toEqual([]);
  });

  test('removes none of them if a page far above its end is out of order', async () => {
    const { list, sync, removed } = await truncated(rows - pageSize);
    list.lieOnce(3, reversed);

    await sync({ again: true });

    expect(await removed()).toEqual([]);
  });

  test('removes at most a page of them, and restores them when it is read whole', async () => {
    const { restore, sync, removed, expectComplete } = await truncated(rows - pageSize);
    await sync({ again: true });
    expect(await removed()).toHaveLength(pageSize);
    restore();

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    await expectComplete();
  });
});

test('a list that is cut for a moment at a returned cursor hides nothing', async () => {
  const { list, sync, expectComplete } = await shortList();
  const all = list.operations;
  list.onRequest = ({ cursor }) => {
    if (cursor === tokenOf(named)) list.operations = all.filter(({ block }) => block > named);
  };
  await sync();
  list.onRequest = () => undefined;
  list.operations = all;

  await sync();

  await expectComplete();
});
