import { describe, expect, test } from 'vitest';
import type { ServedPage } from '../../harness/explorer.ts';
import { hashOf } from '../../harness/listed-operations.ts';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

/** Says another block number of some places of a page; -1 is the last. */
const renumber = (places: readonly number[], block: number) => (page: ServedPage) => {
  for (const place of places) {
    const item = page.items.at(place);
    if (item !== undefined) item['block_number'] = String(block);
  }
  return page;
};

const known = 20;
const added = 6;
const newest = (known + added) * pageSize;
const overlapPages = 2;
const tooHigh = 999_999_999_999;

/** Twenty pages are copied, and six are new. */
async function scene() {
  const world = await lyingList(oneEach(1, known * pageSize));
  await world.sync();
  world.list.operations.push(...oneEach(known * pageSize + 1, newest));
  return world;
}

/** A range of two pages that is read again, entered from the page above it. */
const forTheRange = 3;

describe.each([
  ['last item', [-1]],
  ['last two items', [-2, -1]],
])('a page of a live poll whose %s', (_, places) => {
  test.each([5, 30, 180])('say block %i ends no walk, and verifies nothing', async (block) => {
    const { service, sync, open, lost } = await scene();
    service.lieOnce(2, renumber(places, block));

    await sync();
    const said = { open: await open(), lost: await lost() };

    expect(said.open.length === 0 && said.lost > 0, JSON.stringify(said)).toBe(false);
  });

  test('say block 5 is read again by the next poll, and then all is there', async () => {
    const { service, sync, open, lost } = await scene();
    service.lieOnce(2, renumber(places, 5));
    const first = await sync();

    const requests = await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
    expect(first).toBeLessThanOrEqual(added + overlapPages + forTheRange);
    expect(requests).toBeLessThanOrEqual(overlapPages + forTheRange);
  });
});

describe.each([
  ['first item', [0]],
  ['first two items', [0, 1]],
])('the first page of a poll whose %s', (_, places) => {
  test('say block 999999999999 cover nothing above the head', async () => {
    const { service, sync, open, covered } = await scene();
    service.lieOnce(1, renumber(places, tooHigh));

    await sync();

    // Either is right: nothing up there is covered, or the poll is open.
    const above = (await covered()).filter((range) => Number(range.split(' ').at(-1)) > newest);
    expect(above, `open: ${(await open()).join(', ')}`).toEqual([]);
  });

  test('say block 999999999999 make nothing late that comes after', async () => {
    const { service, list, sync, open, lost, query } = await scene();
    service.lieOnce(1, renumber(places, tooHigh));
    await sync();
    list.operations.push(...oneEach(newest + 1, newest + 2));

    const requests = await sync();

    expect(await query('select from explorer.late_arrivals')).toEqual([]);
    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
    expect(requests).toBeLessThanOrEqual(1 + overlapPages + forTheRange);
  });
});

test('one number too low on a page of history costs two pages at most, not all of them', async () => {
  const { service, sync, open, lost } = await lyingList(oneEach(1, known * pageSize));
  service.lieOnce(12, renumber([-1], 5));
  const first = await sync();

  const requests = await sync();

  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  // The list's end is requested once more.
  expect(first).toBeLessThanOrEqual(known + 1 + forTheRange);
  expect(requests).toBeLessThanOrEqual(overlapPages + forTheRange);
});

test('an operation without a number leaves open where it stands', async () => {
  const { service, sync, open, lost } = await lyingList(oneEach(1, known * pageSize));
  service.lieOnce(12, (page) => {
    const item = page.items[4];
    if (item !== undefined) item['block_number'] = null;
    return page;
  });

  await sync();
  const said = { open: await open(), lost: await lost() };

  expect(said.open.length === 0 && said.lost > 0, JSON.stringify(said)).toBe(false);
});

test.each([1, 2, 3])(
  'where the last %i items of a page tell no number, the next page does not remove them',
  async (count) => {
    const { service, sync, lost, query } = await scene();
    service.lieOnce(added + 1, (page) => {
      for (const item of page.items.slice(-count)) item['block_number'] = null;
      return page;
    });

    await sync();

    expect(
      await query('select block_number from explorer.user_operations where removed_at is not null'),
    ).toEqual([]);
    expect(await lost()).toBe(0);
  },
);

test('a page that jumps over stored operations removes none of them', async () => {
  const { service, sync, open, lost, query } = await scene();
  // The second page of the poll says that its last item stands far below.
  service.lieOnce(2, renumber([-1], 30));
  await sync();

  expect(
    await query('select hash from explorer.user_operations where removed_at is not null'),
  ).toEqual([]);
  await sync();
  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  expect(
    await query(`select block_number from explorer.user_operations where hash = '${hashOf(241)}'`),
  ).toEqual([{ block_number: '241' }]);
});
