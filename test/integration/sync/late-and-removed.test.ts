import { expect, test } from 'vitest';
import { hashOf, honestly, oneEach, type Page, type PageLie } from '../../harness/kept.ts';
import { copiedList, lyingList, pageSize, reversed, tokenOf } from './lying-list.ts';

/** A copied list of blocks 1 to 200. */
async function copied() {
  const world = await copiedList();
  const leave = (left: number) => {
    world.list.operations = world.list.operations.filter(({ id }) => id !== left);
  };
  return { ...world, leave };
}

test('new operations cost their own pages and those of the overlap', async () => {
  const { list, sync } = await copied();

  // 30 s of overlap are 15 blocks: two or three pages.
  let newest = 200;
  for (const count of [40, 1, 120]) {
    list.operations.push(...oneEach(newest + 1, (newest += count)));
    expect(await sync()).toBeLessThanOrEqual(Math.ceil(count / pageSize) + 3);
  }
});

test.each([
  ['within the overlap is recorded as late', 190, [{ hash: hashOf(5000), block_number: '190' }]],
  ['above the covered top is not late', 201, []],
])('an operation that appears %s', async (_, block, late) => {
  const { list, sync, query, lost } = await copied();
  list.operations.push({ block, id: 5000 });

  await sync();

  expect(await query('select hash, block_number from explorer.late_arrivals')).toEqual(late);
  expect(await lost()).toBe(0);
});

test('only the operation that left the list is marked as removed, until it returns', async () => {
  const { list, leave, sync, removed } = await copied();
  const all = list.operations;
  leave(192);
  await sync();
  expect(await removed()).toEqual([hashOf(192)]);

  list.operations = all;
  await sync();
  expect(await removed()).toEqual([]);
});

test('an operation that left the list between two pages is marked as removed, and no other', async () => {
  const { list, leave, sync, removed } = await copied();
  // The first page of ten ends with 193, the second begins with 191.
  leave(192);
  list.operations.push(...oneEach(201, 202));

  await sync();

  expect(await removed()).toEqual([hashOf(192)]);
});

test('an operation that is included again in another block updates its row', async () => {
  const { list, leave, sync, query } = await copied();
  leave(192);
  list.operations.push({ block: 203, id: 192, fee: '7' });

  await sync();

  expect(
    await query(
      `select block_number, fee, removed_at from explorer.user_operations where hash = '${hashOf(192)}'`,
    ),
  ).toEqual([{ block_number: '203', fee: '7', removed_at: null }]);
});

test('pages that are out of order cover and remove nothing, and the feed is unordered', async () => {
  const { list, leave, sync, query, covered, removed } = await copied();
  const before = await covered();
  leave(192);
  list.operations.push({ block: 230, id: 230 });
  list.lie = reversed;

  await sync();

  expect(await covered()).toEqual(before);
  expect(await removed()).toEqual([]);
  expect(await query('select failure from etl.feeds')).toEqual([{ failure: 'unordered' }]);
  expect(
    await query(`select from explorer.user_operations where hash = '${hashOf(230)}'`),
  ).toHaveLength(1);
});

const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 0, minute));

test('a deep poll finds items below the overlap, once in its interval', async () => {
  const { list, sync, lost } = await lyingList(oneEach(1, 400));
  const syncAt = (minute: number) => sync({ at: at(minute) });
  await syncAt(0);
  // A clock that ran ahead for a while puts no resweep off.
  await syncAt(100_000);
  // Four minutes behind the head: within the first rule's depth.
  list.operations.push({ block: 280, id: 9_000 });
  const shallow = await syncAt(10);
  expect(await lost()).toBe(1);

  expect(await syncAt(21)).toBeGreaterThan(shallow);

  expect(await lost()).toBe(0);
  expect(await syncAt(30)).toBe(shallow);
});

const lying =
  (lie: (item: Page['items'][number], index: number) => object): PageLie =>
  ({ items, ...page }) => ({
    ...page,
    items: items.map((item, index) => ({ ...item, ...lie(item, index) })),
  });
const lateHash = hashOf(5000);
const hidesBlock = lying(({ hash }) => (hash === lateHash ? { block_number: null } : {}));
const otherChain = lying((_, index) => ({ hash: hashOf(9000 + index) }));
const swapped = ([a = {}, b = {}, ...rest]: Page['items']) => [b, a, ...rest];

test('an item that a page shows out of order keeps its known block', async () => {
  const { list, sync, query } = await copied();
  list.lie = lying(({ hash }) => (hash === hashOf(195) ? { block_number: 150 } : {}));

  await sync();

  expect(
    await query(`
      select block_number, extra is not null as is_noted
      from explorer.user_operations where hash = '${hashOf(195)}'`),
  ).toEqual([{ block_number: '195', is_noted: true }]);
});

test.each<[string, PageLie]>([
  ['an item without a block', hidesBlock],
  [
    'another chain',
    (page, request) => (request.cursor === null ? page : otherChain(page, request)),
  ],
])('a poll that meets %s is followed by one as deep', async (_, lie) => {
  const { list, sync, query } = await copied();
  list.operations.push({ block: 187, id: 5000 }, ...oneEach(201, 240));
  const blockOfLate = () =>
    query(`select block_number from explorer.user_operations where hash = '${lateHash}'`);
  list.lie = lie;
  await sync();
  expect(await blockOfLate()).not.toEqual([{ block_number: '187' }]);

  list.lie = honestly;
  await sync();

  expect(await blockOfLate()).toEqual([{ block_number: '187' }]);
});

test('a gap that stays hides no late item within the overlap', async () => {
  const { list, sync, gaps, query } = await copied();
  list.operations.push(...oneEach(201, 205));
  list.lie = ({ items, ...page }) => ({
    ...page,
    items: items.map((item) =>
      item['hash'] === hashOf(203) ? { ...item, block_number: null } : item,
    ),
  });
  await sync();
  list.operations.push(...oneEach(206, 215));
  await sync();
  list.operations.push({ block: 150, id: 5000 }, ...oneEach(216, 225));

  await sync({ overlapMs: 200_000 });

  expect(await gaps()).toEqual([{ from_block: 202, to_block: 204 }]);
  expect(await query('select block_number::int from explorer.late_arrivals')).toEqual([
    { block_number: 150 },
  ]);
});

test('polls of an unordered list stay short', async () => {
  const { list, sync, query } = await copied();
  list.lie = ({ items, ...page }) => ({ ...page, items: swapped(items) });
  for (let newest = 200; newest < 260; newest += 20) {
    list.operations.push(...oneEach(newest + 1, newest + 20));
    await sync();
  }

  const polls = await query(`select pages::int from etl.walks where lane = 'live' order by id`);
  const [first = 0, ...later] = polls.map(({ pages }) => Number(pages));
  expect(later).toHaveLength(2);
  expect(Math.max(...later)).toBeLessThanOrEqual(first + 2);
});

test('a page without a reliable position moves no stored operation', async () => {
  const { list, sync, query } = await copied();
  list.operations.push({ block: 201, id: 201 });
  list.lie = lying((_, index) => (index < 5 ? { block_number: '999999999999' } : {}));

  await sync();

  const moved = `select hash from explorer.user_operations where block_number > 200 or block_number is null`;
  expect(await query(moved)).toEqual([{ hash: hashOf(201) }]);
});

test('a long poll that is out of order is not repeated', async () => {
  const { list, sync } = await copied();
  list.operations.push({ block: 187, id: 5000 }, ...oneEach(201, 1_300));
  list.lie = hidesBlock;
  await sync();
  list.lie = honestly;

  expect(await sync()).toBeLessThan(10);
});

const without = (id: number) => (items: Page['items']) =>
  items.map((item) => (item['hash'] === hashOf(id) ? { ...item, hash: '0x' } : item));

test.each([
  ['with an item in quarantine, which may be any of its block,', without(193)],
  ['below one that ends with an item in quarantine', without(190)],
  ['with two items swapped', swapped],
])('a page %s marks nothing as removed', async (_, spoil) => {
  const { leave, list, sync, removed } = await copied();
  leave(192);
  list.lie = ({ items, ...page }) => ({ ...page, items: spoil(items) });

  await sync();

  expect(await removed()).toEqual([]);
  list.lie = honestly;
  await sync();
  expect(await removed()).toEqual([hashOf(192)]);
});

test('a page that does not follow the one before removes nothing between the two', async () => {
  const { list, sync, removed } = await copied();
  list.lie = ({ items, ...page }, { cursor }) =>
    cursor === tokenOf(190) ? { ...page, items: items.slice(1) } : null;

  await sync({ overlapMs: 40_000 });

  expect(await removed()).toEqual([]);
});

test('a page that once skips more stored operations than it may remove covers no gap', async () => {
  const { list, sync, query, removed, expectComplete } = await copied();
  const gap = `int8multirange(int8range(140, 160, '[]'))`;
  await query(`
    delete from explorer.user_operations where block_number = 147;
    update etl.walks set verified = verified - ${gap};
    update etl.coverage set verified = verified - ${gap}`);
  let skipped = 0;
  list.lie = ({ items, ...page }) => {
    const kept = items.filter((item) => !/^(?:14[5-9]|150)$/u.test(String(item['block_number'])));
    if (skipped > 0 || kept.length === items.length) return null;
    skipped = items.length - kept.length;
    return { ...page, items: kept };
  };

  await sync();

  expect(skipped).toBe(6);
  expect(await removed()).toEqual([]);
  await expectComplete();
});

test('new data does not wait for a deep poll that history holds up', async () => {
  const { list, sync, query } = await lyingList(oneEach(1, 1_400));
  await sync({ at: at(0) });
  await sync({ at: at(5) });
  list.operations.push(...oneEach(1_401, 1_500));
  const deep = { resweep: [{ depthMs: 2_400_000, everyMs: 3_600_000 }] };
  const pause = (lane: string) =>
    query(`update etl.lanes set paused_at = case when lane = '${lane}' then now() end`);
  // The deep poll begins first, and history waits after three pages.
  await pause('live');
  const interrupt = new AbortController();
  let served = 0;
  list.onRequest = () => {
    served += 1;
    if (served === 3) interrupt.abort();
  };
  await sync({ at: at(60), signal: interrupt.signal, ...deep });
  list.onRequest = () => undefined;
  await pause('backfill');

  await sync({ at: at(61), ...deep });

  const added = 'select count(*)::int from explorer.user_operations where block_number > 1400';
  expect(await query(added)).toEqual([{ count: 100 }]);
});
