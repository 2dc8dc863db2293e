import { expect, test } from 'vitest';
import { addressOf, honestly, noItems, type Page, range } from '../../harness/kept.ts';
import { openRunner } from '../../harness/runner.ts';
import { followLists, plainChain } from '../../harness/sync.ts';
import { pageSize } from '../sync/lying-list.ts';
import { inLong } from '../../harness/long-cases.ts';

// A conclusion falls with its evidence, and no absence is concluded from a place that is not confirmed.

const countsOf = (from: number, to: number) =>
  new Map(range(from, to).map((id) => [id, 10_000 - id]));

/** A list of 60 factories, and a database that reads it once a day. */
async function rankedWorld() {
  const operations = ['factories'];
  const copy = await followLists({});
  const { list, database, query } = copy;
  const run = { url: list.url, chains: [plainChain], operations, pageSize };
  const runner = await openRunner(database, run);
  list.counts = countsOf(1, 60);
  return {
    ...copy,
    poll: (number: number) =>
      runner.run(runner.lanes, new Date(Date.UTC(2026, 5, number)), 'schedule'),
    ranked: async (): Promise<string[]> =>
      (
        await query('select address_hash from explorer.factories where rank is not null order by 1')
      ).map((row) => row.address_hash),
  };
}

test('what a single walk of three met, while rows moved, is in no first ranking', async () => {
  const { list, poll, ranked } = await rankedWorld();
  let walk = 0;
  let nth = 0;
  list.lie = (page, { cursor }) => {
    nth = cursor === null ? 0 : nth + 1;
    if (cursor === null) walk += 1;
    const address = (at: number) => addressOf(9_000 + 100 * walk + at);
    if (nth !== walk) return null;
    return { ...page, items: page.items.map((item, at) => ({ ...item, address: address(at) })) };
  };

  expect(await poll(1)).toEqual(['finished']);

  expect(walk).toBe(3);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('a page of another chain is in no first ranking, although one of its items cannot be read', async () => {
  const { list, poll, ranked } = await rankedWorld();
  list.lieOnce(3, (page) => ({
    ...page,
    items: page.items.map((item, at) => ({
      ...item,
      address: at === 5 ? '0x' : addressOf(9_000 + at),
    })),
  }));

  expect(await poll(1)).toEqual(['finished']);

  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('a first ranking that ends without the item of its last cursor is read again', async () => {
  const { list, poll, ranked } = await rankedWorld();
  const answers = [noItems, noItems];
  list.lie = (_, { cursor }) => (cursor === null ? null : (answers.pop() ?? null));

  expect(await poll(1)).toEqual(['finished']);

  expect(answers).toEqual([]);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('a first ranking of which each walk ends without the item of its last cursor is not published', async () => {
  const { list, poll, ranked, open } = await rankedWorld();
  list.lie = (_, { cursor }) => (cursor === null ? null : noItems);

  expect(await poll(1)).toEqual(['finished']);

  expect(await ranked()).toEqual([]);
  expect(await open()).not.toEqual([]);
  list.lie = honestly;
  await poll(2);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
  expect(await open()).toEqual([]);
});

test('a first ranking that ends where its first page says that it begins is read again', async () => {
  const { list, poll, ranked } = await rankedWorld();
  const answers = [noItems, noItems];
  let heads = 0;
  list.lie = (page, { cursor, cursorName, pageAt }) => {
    if (cursor !== null) return answers.pop() ?? null;
    heads += 1;
    const { items } = pageAt(String(page.next_page_params?.[cursorName]));
    // The second page in place of the first.
    return heads === 1 ? { ...page, items } : null;
  };

  expect(await poll(1)).toEqual(['finished']);

  expect(answers).toEqual([]);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('an end without the item of its cursor is no evidence for the same end of the next walk', async () => {
  const { list, poll, ranked } = await rankedWorld();
  let requests = 0;
  // A list that ends at its first page for as long as three answers.
  list.lie = (page, { cursor }) => {
    requests += 1;
    if (requests === 1 || requests > 4) return null;
    return cursor === null ? { ...page, next_page_params: null } : noItems;
  };

  expect(await poll(1)).toEqual(['finished']);

  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('a last page that lacks factories once, as it is requested again, hides none', async () => {
  const { list, poll, ranked } = await rankedWorld();
  let answers = 0;
  list.lie = (page) => {
    if (page.next_page_params !== null) return null;
    answers += 1;
    return answers === 2 ? { ...page, items: page.items.slice(0, -2) } : null;
  };

  expect(await poll(1)).toEqual(['finished']);

  expect(answers).toBe(4);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test('a last page that ends early twice, in two places, hides none', async () => {
  const { list, poll, ranked } = await rankedWorld();
  let answers = 0;
  list.lie = (page) => {
    if (page.next_page_params !== null) return null;
    answers += 1;
    return answers <= 2 ? { ...page, items: page.items.slice(0, 5 + answers) } : null;
  };

  expect(await poll(1)).toEqual(['finished']);

  expect(answers).toBe(4);
  expect(await ranked()).toEqual(range(1, 60).map(addressOf));
});

test.each([
  ['more factories', countsOf(101, 190)],
  ['as many, and half of them the same', countsOf(31, 90)],
  ...inLong<[string, ReturnType<typeof countsOf>]>(['fewer', countsOf(101, 130)]),
])(
  'a first ranking of another chain with %s falls once two walks differ alike',
  async (_name, counts) => {
    const { list, poll, ranked, open } = await rankedWorld();
    const own = list.counts;
    list.counts = counts;
    expect(await poll(1)).toEqual(['finished']);

    list.counts = own;
    expect(await poll(2)).toEqual([expect.stringContaining('truncated')]);
    expect(await ranked()).toHaveLength(counts.size);
    expect(await poll(3)).toEqual(['finished']);

    expect(await ranked()).toEqual(range(1, 60).map(addressOf));
    expect(await open()).toEqual([]);
  },
);

test('what only a walk met that failed is in no ranking', async () => {
  const { list, query, poll, ranked } = await rankedWorld();
  expect(await poll(1)).toEqual(['finished']);
  const foreign = (page: Page): Page => ({
    ...page,
    items: page.items.map((item, at) => ({ ...item, address: addressOf(9_000 + at) })),
  });
  // A page of another list, and the end of the list where rows are known below.
  list.lie = (page, { cursor }) =>
    cursor === null ? foreign(page) : { ...page, next_page_params: null };
  expect(await poll(2)).toEqual([expect.stringContaining('truncated')]);

  list.lie = honestly;
  // What the failed walk met still contradicts one end.
  await poll(3);
  expect(await poll(4)).toEqual(['finished']);

  expect(await query('select count(distinct run_id)::int as runs from etl.walks')).toEqual([
    { runs: 2 },
  ]);
  expect(await ranked()).toHaveLength(60);
});
