import { expect, test } from 'vitest';
import type { Item } from '../../../simulator/index.ts';
import {
  dropQuarantined,
  listQuarantined,
  type QuarantineFilter,
  retryQuarantined,
} from '../../../src/quarantine/quarantine.ts';
import { oneEach, type PageLie } from '../../harness/kept.ts';
import { lyingList } from './lying-list.ts';

// Items that say nothing, which are alike.

const all: QuarantineFilter = { chains: [], operations: [], ids: [], reason: null };

/** The items at these places of a page are `{}`, or another one that says nothing. */
const blanked =
  (places: readonly number[], blank: unknown = {}): PageLie =>
  ({ items, ...page }) => ({
    ...page,
    items: items.map((item, at) => (places.includes(at) ? (blank as Item) : item)),
  });

test('an item that is null is in quarantine, and stops no feed', async () => {
  const { list, sync, db, lost, open } = await lyingList();
  list.lieOnce(2, blanked([4], null));

  await sync();

  expect([await lost(), await open()]).toEqual([1, ['1 item in quarantine']]);
  expect(await listQuarantined(db, all)).toMatchObject([{ raw: null }]);
  expect((await retryQuarantined(db, all)).kept).toHaveLength(1);
});

test.each<[string, number, readonly number[]]>([
  ['one page', 1, [2, 7]],
  ['two pages', 2, [4]],
])('equal items of %s cover no block that one of them can be in', async (_, last, places) => {
  const { list, sync, lost, covered } = await lyingList();
  let heads = 0;
  list.lie = (page, request) =>
    (heads += 1) > 4 && heads <= 4 + last ? blanked(places)(page, request) : null;

  await sync();

  expect(await lost()).toBe(2);
  expect(await covered()).toEqual(
    last === 1 ? ['0 to 151', '160 to 198'] : ['0 to 144', '158 to 198'],
  );
});

test('the note on dropped items does not count fewer than were served', async () => {
  const { list, sync, db, lost, reports } = await lyingList();
  list.lieOnce(5, blanked([3, 6]));
  await sync();

  expect([await lost(), await dropQuarantined(db, all)]).toEqual([2, 1]);
  expect((await reports()).flatMap(({ notes }) => notes)).toEqual([
    'not stored: at least 1 item, dropped from quarantine',
  ]);
});

test('an item that equals a dropped one is open if another page serves it', async () => {
  const { list, sync, db, open, lost } = await lyingList();
  list.lieOnce(5, blanked([3]));
  await sync();
  await sync({ again: true });
  expect([await lost(), await dropQuarantined(db, all), await open()]).toEqual([0, 1, []]);
  list.operations = [...list.operations, ...oneEach(201, 215)];
  list.lieOnce(1, blanked([4]));

  await sync({ overlapMs: 0 });

  expect([await lost(), await open()]).toEqual([1, ['1 item in quarantine']]);
});
