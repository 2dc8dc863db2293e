import { expect, test } from 'vitest';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

const pages = 20;

/** A list of twenty pages, all of them in reverse, read to its end. */
async function readInDisorder() {
  const scene = await lyingList(oneEach(1, pages * pageSize));
  scene.list.isDisordered = true;
  await scene.sync();
  return scene;
}

test('a finished walk whose pages were out of order covers nothing, and is open', async () => {
  const { open, covered } = await readInDisorder();

  expect(await covered()).toEqual([]);
  expect(await open()).not.toEqual([]);
});

test('it is open too after a sync that was interrupted, when its feed is idle', async () => {
  const { service, sync, open, covered, query } = await readInDisorder();
  const interrupt = new AbortController();
  service.lieOnce(1, (page) => {
    interrupt.abort();
    return page;
  });

  await sync({ signal: interrupt.signal });

  expect(await query('select state from etl.feeds')).toEqual([{ state: 'idle' }]);
  expect(await covered()).toEqual([]);
  expect(await open()).not.toEqual([]);
});

test('when the list is in order again, one sync makes all of it complete', async () => {
  const { list, sync, open, covered, lost } = await readInDisorder();
  list.isDisordered = false;

  const requests = await sync();

  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  // Nothing bears out the newest block but one operation, so the second one bounds what is covered.
  expect(await covered()).toEqual([`0 to ${pages * pageSize - 2}`]);
  // The end of the list is requested once more, where nothing supports it.
  expect(requests).toBeLessThanOrEqual(pages + 1);
});

test('one page of history out of order costs two pages, not all that lies below it', async () => {
  const { service, sync, open, lost } = await lyingList(oneEach(1, pages * pageSize));
  service.lieOnce(12, ({ items, next_page_params }) => ({
    items: items.toReversed(),
    next_page_params,
  }));
  const first = await sync();

  const requests = await sync();

  expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  // The list's end is requested once more; the range is entered from the page above it.
  expect(first).toBeLessThanOrEqual(pages + 1 + 3);
  expect(requests).toBeLessThanOrEqual(2 + 3);
});
