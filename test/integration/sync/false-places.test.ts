import { describe, expect, test } from 'vitest';
import { hashOf, honestly, oneEach, type Page } from '../../harness/kept.ts';
import { openRunner, pageBudget } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';
import {
  copiedList,
  forTheEnd,
  lyingList,
  pages,
  pageSize,
  reversed,
  tokenOf,
} from './lying-list.ts';

/** Reports another block number for some places of a page; -1 is the last. */
const renumber = (places: readonly number[], block: number | null) => (page: Page) => ({
  ...page,
  items: page.items.map((item, index, { length }) =>
    places.includes(index) || places.includes(index - length)
      ? { ...item, block_number: block === null ? null : String(block) }
      : item,
  ),
});

const added = 6;
const newest = (pages + added) * pageSize;
const overlapPages = 2;
const tooHigh = 999_999_999_999;

/** Twenty pages are copied, and six are new. */
async function scene() {
  const world = await copiedList();
  world.list.operations.push(...oneEach(pages * pageSize + 1, newest));
  return world;
}

/** A range of two pages that is read again, entered from the page above it. */
const forTheRange = 3;

test.each([
  ['last item', [-1], 5],
  ['last two items', [-2, -1], 180],
])(
  'a page of a live poll whose %s (%j) report block %i hides nothing',
  async (_, places, block) => {
    const { list, sync, expectNothingHidden, expectComplete } = await scene();
    list.lieOnce(2, renumber(places, block));

    const first = await sync();
    await expectNothingHidden();
    const requests = await sync();

    await expectComplete();
    expect(first).toBeLessThanOrEqual(added + overlapPages + forTheRange);
    expect(requests).toBeLessThanOrEqual(overlapPages + forTheRange);
  },
);

test.each([
  ['first item', [0]],
  ['first two items', [0, 1]],
])('a poll whose %s report a block above the head covers nothing there', async (_, places) => {
  const { list, sync, open, covered, query, expectComplete } = await scene();
  list.lieOnce(1, renumber(places, tooHigh));

  await sync();

  const above = (await covered()).filter((range) => Number(range.split(' ').at(-1)) > newest);
  expect(above, `open: ${(await open()).join(', ')}`).toEqual([]);
  // Nor is late what comes after.
  list.operations.push(...oneEach(newest + 1, newest + 2));
  expect(await sync()).toBeLessThanOrEqual(1 + overlapPages + forTheRange);
  expect(await query('select from explorer.late_arrivals')).toEqual([]);
  await expectComplete();
});

describe('a page of history costs at most two more pages, not all below it,', () => {
  test.each([
    ['if one of its numbers is too low', renumber([-1], 5)],
    ['if it is out of order', reversed],
  ])('%s', async (_, lie) => {
    const { list, sync, expectComplete } = await lyingList();
    list.lieOnce(12, lie);

    const first = await sync();
    const requests = await sync();

    await expectComplete();
    expect(first).toBeLessThanOrEqual(pages + forTheEnd + forTheRange);
    expect(requests).toBeLessThanOrEqual(overlapPages + forTheRange);
  });
});

test('an operation without a block number leaves its range open', async () => {
  const { list, sync, expectNothingHidden } = await lyingList();
  list.lieOnce(12, renumber([4], null));

  await sync();

  await expectNothingHidden();
});

test.each([1, 3])(
  'operations are not removed if the last %i items of a page have no block number',
  async (count) => {
    const { list, sync, lost, removed } = await scene();
    const last = Array.from({ length: count }, (_, place) => -1 - place);
    list.lieOnce(added + 1, renumber(last, null));

    await sync();

    expect(await removed()).toEqual([]);
    expect(await lost()).toBe(0);
  },
);

test('a page that skips stored operations removes none of them', async () => {
  const { list, sync, query, removed, expectComplete } = await scene();
  // The second page of the poll reports that its last item is far below.
  list.lieOnce(2, renumber([-1], 30));
  await sync();

  expect(await removed()).toEqual([]);
  await sync();
  await expectComplete();
  expect(
    await query(`select block_number from explorer.user_operations where hash = '${hashOf(241)}'`),
  ).toEqual([{ block_number: '241' }]);
});

/** A list whose pages were all out of order when it was read. */
async function readInDisorder() {
  const world = await lyingList();
  world.list.lie = reversed;
  await world.sync();
  expect(await world.covered()).toEqual([]);
  expect(await world.open()).not.toEqual([]);
  return world;
}

test('a list that was out of order is complete when it is in order again', async () => {
  const { list, sync, covered, expectComplete } = await readInDisorder();
  list.lie = honestly;

  expect(await sync()).toBeLessThanOrEqual(pages + forTheEnd);

  await expectComplete();
  // One operation alone confirms the newest block, so the second one bounds what is covered.
  expect(await covered()).toEqual([`0 to ${pages * pageSize - 2}`]);
});

test('a list that was out of order is open after an interrupted sync, although its feed is idle', async () => {
  const { list, sync, open, covered, query } = await readInDisorder();
  const interrupt = new AbortController();
  list.onRequest = () => interrupt.abort();

  await sync({ signal: interrupt.signal });

  expect(await query('select reason from etl.feeds')).toEqual([{ reason: null }]);
  expect(await covered()).toEqual([]);
  expect(await open()).not.toEqual([]);
});

test('a walk that is interrupted behind a page whose next cursor is too high reads on as one that is not', async () => {
  const walkOf = async (pagesOfSlice: number) => {
    const { list, database, query } = await lyingList(oneEach(1, 4 * pageSize));
    list.lieOnce(2, (page) => ({
      ...page,
      next_page_params: { page_token: tokenOf(3 * pageSize - 1), page_size: pageSize },
    }));
    const runner = await openRunner(database, {
      url: list.url,
      chains: [plainChain],
      operations: ['user-operations'],
      pageSize,
    });
    const [, backfill] = runner.lanes;
    if (backfill === undefined) throw new Error('history has no lane');
    await runner.run([backfill], new Date(), 'sync', () => pageBudget(pagesOfSlice));
    return query('select pages, cuts, is_ordered, verified, reason from etl.walks order by id');
  };

  const whole = await walkOf(Infinity);

  expect(whole).toMatchObject([{ is_ordered: true }]);
  expect(await walkOf(1)).toEqual(whole);
});
