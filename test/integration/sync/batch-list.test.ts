import { expect, test } from 'vitest';
import { followLists } from '../../harness/sync.ts';
import { batchItem, honestly, noItems, type PageLie, range } from '../../harness/kept.ts';

const batchesOf = (from: number, to: number) => range(from, to).map((number) => ({ number }));

/** A list of batches 1 to `count`, read in pages of ten; an hour of overlap is 60 batches. */
async function world(count: number) {
  const listed = batchesOf(1, count);
  const copy = await followLists({ listed }, { operations: ['optimism-batches'], pageSize: 10 });
  const verify = async () => {
    const [report] = await copy.reports();
    const covered = report?.covered.map(({ from, to }) => `${from} to ${to}`);
    return { covered, open: report?.open };
  };
  const numbers = async (where = 'true') => {
    const sql = `select batch_number::int from explorer.optimism_batches where ${where} order by 1`;
    return (await copy.query(sql)).map(({ batch_number }) => batch_number);
  };
  return { ...copy, verify, numbers };
}

test('the list of batches is read alone, and later polls cost only their own pages', async () => {
  const { list, sync, verify, numbers } = await world(200);

  // 20 pages, and the end of the first walk is requested once more: nothing supports it.
  expect((await sync()).requests).toBe(20 + 1);
  expect(await numbers()).toEqual(range(1, 200));
  expect(await verify()).toEqual({ covered: ['0 to 198'], open: [] });

  list.listed.push(...batchesOf(201, 205));
  // 5 new ones and the 60 of the overlap.
  expect((await sync()).requests).toBeLessThanOrEqual(8);
  expect(await verify()).toEqual({ covered: ['0 to 203'], open: [] });
});

test('a batch has the time and the way of its post to L1', async () => {
  const { sync, query } = await world(3);
  await sync();

  expect(
    await query(`
      select state, l1_timestamp, transactions_count, l2_start_block_number,
             l2_end_block_number, batch_data_container, hash
      from explorer.optimism_batches
      join explorer.optimism_batch_l1_transactions using (chain_id, batch_number)
      where batch_number = 2`),
  ).toEqual([
    {
      state: null,
      l1_timestamp: new Date('2026-01-01T00:02:00Z'),
      transactions_count: '5',
      l2_start_block_number: '200',
      l2_end_block_number: '299',
      batch_data_container: 'in_blob4844',
      hash: `0x${'2'.padStart(64, '0')}`,
    },
  ]);
});

test('the overlap finds a late batch, counts that changed, and one that left', async () => {
  const { list, sync, query, numbers } = await world(200);
  list.listed = list.listed.filter(({ number }) => number !== 170);
  await sync();
  list.listed = [...list.listed, { number: 170 }]
    .filter(({ number }) => number !== 195)
    .map((batch) => ({ ...batch, transactions: 6 }));

  await sync();

  expect(await query('select operation, key, hash from explorer.late_arrivals')).toEqual([
    { operation: 'optimism-batches', key: '170', hash: null },
  ]);
  const [lowest] = await numbers('transactions_count = 6');
  expect(lowest).toBeLessThanOrEqual(140);
  expect(await numbers('removed_at is not null')).toEqual([195]);
});

test.each<[string, PageLie]>([
  ['a page without its cursor', (page) => ({ ...page, next_page_params: null })],
  ['an empty page', () => noItems],
])('a list that ends early with %s loses nothing that is stored', async (_, lie) => {
  const { list, sync, numbers, verify } = await world(100);
  await sync();
  list.listed.push(...batchesOf(101, 200));
  list.lie = (page, request) => {
    const below = Number(request.cursor);
    return below > 120 && below < 180 ? lie(page, request) : null;
  };

  const { results } = await sync();

  expect(results[0]?.reason).toMatch(
    /^truncated: .*it ends at batch \d+, but more than \d+ items are stored below/u,
  );
  expect(await numbers()).toEqual(expect.arrayContaining(range(1, 100)));
  expect((await verify()).open).not.toEqual([]);

  list.lie = honestly;
  await sync();
  expect(await numbers()).toEqual(range(1, 200));
  expect((await verify()).open).toEqual([]);
});

test('an item that wrongly repeats the last number of the page before hides no batch', async () => {
  const { list, sync, numbers, verify } = await world(50);
  list.lieOnce(2, ({ items: [, ...others], ...page }) => ({
    ...page,
    items: [batchItem({ number: 41 }), ...others],
  }));

  await sync();

  expect(await numbers()).toEqual(range(1, 50));
  await sync();
  expect((await verify()).open).toEqual(['1 item in quarantine']);
});

test('an empty page that leads on below the requested number covers no batch', async () => {
  const { list, sync, numbers, verify } = await world(100);
  list.lie = (page, { cursor }) => (cursor === '61' ? { ...page, items: [] } : null);

  await sync();

  // The gap is read at other cursors.
  expect(await numbers()).toEqual(range(1, 100));
  list.lie = honestly;
  await sync();
  expect((await verify()).open).toEqual([]);
});

const farDown = { id: 20, items_count: 10 };

test.each<[string, PageLie]>([
  [
    'a cursor',
    (page, { cursor }) => (cursor === '71' ? { ...page, next_page_params: farDown } : null),
  ],
  [
    'an empty page',
    (_, { cursor }) => (cursor === '61' ? { items: [], next_page_params: farDown } : null),
  ],
])('an empty end to which %s skips covers and removes no batch', async (_, lie) => {
  const { list, sync, verify, numbers } = await world(0);
  list.listed = batchesOf(20, 100);
  list.lie = lie;
  await sync();
  expect((await verify()).open).toEqual(['batches 0 to 61: not downloaded']);

  list.lie = honestly;
  await sync();
  list.lie = lie;
  await sync({ again: true });

  expect(await numbers('removed_at is null')).toEqual(range(20, 100));
});

test('a head of one batch whose cursor skips to an empty end removes none', async () => {
  const { list, sync, query, verify } = await world(100);
  list.listed = batchesOf(50, 100);
  await sync();
  list.lieOnce(1, ({ items }) => ({
    items: items.slice(0, 1),
    next_page_params: { id: 50, items_count: 10 },
  }));

  await sync({ again: true });

  expect(await query('select from explorer.listed_batches where removed_at is not null')).toEqual(
    [],
  );
  expect((await verify()).open).toEqual([]);
});

test('a number that its page contradicts is quarantined, and its range is open until a person drops it', async () => {
  const { list, sync, numbers, verify } = await world(50);
  list.lie = (page) => ({
    ...page,
    items: page.items.map((item) =>
      item['number'] === 45 ? batchItem({ number: 900_000 }) : item,
    ),
  });
  await sync();
  expect((await verify()).open).toContain('1 item in quarantine');
  expect(await numbers()).toEqual(range(1, 50).filter((number) => number !== 45));

  list.lie = honestly;
  await sync();

  expect(await numbers()).toEqual(range(1, 50));
  expect(await verify()).toEqual({
    covered: ['0 to 43', '47 to 48'],
    open: ['1 item in quarantine'],
  });
});
