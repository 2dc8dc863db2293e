import { describe, expect, test } from 'vitest';
import type { ServedPage } from '../../harness/explorer.ts';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

/** Each way to end a list that goes on. */
const ends: Readonly<Record<string, (page: ServedPage) => unknown>> = {
  'an empty page': () => ({ items: [], next_page_params: null }),
  'half a page': ({ items }) => ({ items: items.slice(0, pageSize / 2), next_page_params: null }),
  'a full page': ({ items }) => ({ items, next_page_params: null }),
  'a page without a cursor': ({ items }) => ({ items }),
};
const emptyButGoesOn = (page: ServedPage) => ({ ...page, items: [] });

const pages = 20;
const everything = () => oneEach(1, pages * pageSize);

/** The false answer itself, which is requested once more. */
const forTheLie = 1;
/** The list's true end is requested once more where nothing supports it. */
const forTheEnd = 1;

describe.each([2, 10, pages - 1])('history whose page %i', (nth) => {
  test.each(Object.entries(ends))(
    'ends the list with %s is read to its true end',
    async (_, end) => {
      const { service, sync, open, lost } = await lyingList(everything());
      service.lieOnce(nth, end);

      const requests = await sync();

      expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
      expect(requests).toBeLessThanOrEqual(pages + forTheLie + forTheEnd);
    },
  );

  test('is empty, but goes on, is requested once more', async () => {
    const { service, sync, open, lost } = await lyingList(everything());
    service.lieOnce(nth, emptyButGoesOn);

    const requests = await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
    expect(requests).toBeLessThanOrEqual(pages + forTheLie + forTheEnd);
  });
});

test('a list that is empty at first is requested once more, and then read', async () => {
  const { service, sync, open, lost } = await lyingList(everything());
  service.lieOnce(1, ends['an empty page']!);

  const requests = await sync();

  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  expect(requests).toBeLessThanOrEqual(pages + forTheLie + forTheEnd);
});

test('a list that is empty, and says so twice, is complete with two requests', async () => {
  const { sync, open } = await lyingList([]);

  expect(await sync()).toBeLessThanOrEqual(1 + forTheEnd);

  expect(await open()).toEqual([]);
});

test('a list that ends truly costs one request beyond its pages', async () => {
  const { sync, open } = await lyingList(everything());

  expect(await sync()).toBe(pages + forTheEnd);

  expect(await open()).toEqual([]);
});

/** New operations that a poll has to read: four pages, and two of the overlap. */
const newPages = 4;
const overlapPages = 2;

/** Eight pages of history are read, the others are a gap; then four pages are new. */
async function halfRead() {
  const scene = await lyingList(everything());
  await scene.sync({ maxPages: 8 });
  const [gap] = await scene.open();
  scene.list.operations.push(...oneEach(pages * pageSize + 1, (pages + newPages) * pageSize));
  return { ...scene, gap };
}

describe.each([1, 2, 4, 5])('a live poll whose page %i', (nth) => {
  test.each(Object.entries(ends))(
    'ends the list with %s, above stored operations, covers what it read and no gap',
    async (_, end) => {
      const { service, sync, open, gap, lost } = await halfRead();
      service.lieOnce(nth, end);

      // Of history nothing is read: the gap below stays, if nobody says that it is none.
      const requests = await sync({ maxPages: newPages + overlapPages + 1 });
      const left = await open();

      expect(requests).toBeLessThanOrEqual(2 * (newPages + overlapPages + 1) + forTheLie);
      expect(left.length === 0 && (await lost()) > 0, `open: ${left.join(', ')}; was: ${gap}`).toBe(
        false,
      );
      await sync();
      expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
    },
  );

  test('is empty, but goes on, loses nothing of it', async () => {
    const { service, sync, open, lost } = await halfRead();
    service.lieOnce(nth, emptyButGoesOn);

    await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });
});

test('a poll of a list that is all known is no dearer than before: nothing ended', async () => {
  const { sync } = await lyingList(everything());
  await sync();

  expect(await sync()).toBe(overlapPages);
});

test('a list that is suddenly empty is not believed while operations are stored', async () => {
  const { service, sync, open, lost } = await lyingList(everything());
  await sync();
  service.lieOnce(1, ends['an empty page']!);

  const requests = await sync();

  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  expect(requests).toBeLessThanOrEqual(overlapPages + forTheLie);
});
