import { expect, inject, test } from 'vitest';
import { pruneLedger } from '../../../src/lists/prune.ts';
import { resetFeed } from '../../../src/sync/forget.ts';
import {
  blockItem,
  hashOf,
  honestly,
  noItems,
  oneEach,
  type Page,
  type PageLie,
  range,
  timeOf,
} from '../../harness/kept.ts';
import { batchBlocks, batchWorld, pageSize } from '../../harness/batch-world.ts';
import { followLists } from '../../harness/sync.ts';
import { replayed } from '../archive/archive.ts';
import { copiedList, lyingList, pages, reversed, tokenOf } from './lying-list.ts';
import { inLong } from '../../harness/long-cases.ts';

// A conclusion falls with its evidence, and no absence is concluded from a place that is not confirmed.

test.runIf(inject('isLong'))(
  'a short list that is empty from one day to the other loses no row, and is open',
  async () => {
    const { list, sync, open, removed, expectComplete } = await copiedList({}, oneEach(1, 9));
    list.lie = () => noItems;
    for (let round = 0; round < 3; round += 1) {
      await sync();
      expect(await removed()).toEqual([]);
      expect(await open()).toEqual([expect.stringContaining('it is empty, but items are stored')]);
    }

    list.lie = honestly;
    await sync();

    await expectComplete();
  },
);

test('a short list of batches that is empty loses none', async () => {
  const listed = range(1, 12).map((number) => ({ number }));
  const { list, sync, open, query } = await followLists(
    { listed },
    { operations: ['optimism-batches'] },
  );
  await sync();
  list.lie = () => noItems;

  await sync();
  await sync();

  expect(await query('select from explorer.listed_batches where removed_at is not null')).toEqual(
    [],
  );
  expect(await open()).not.toEqual([]);
});

const tenYearsMs = 10 * 365 * 86_400_000;

test('a bound that false times have reached is open once the same items report other times', async () => {
  const { list, sync, query, open } = await lyingList(oneEach(1, 500));
  const bounded = { listSince: timeOf(50), pageSize: 50 };
  list.lie = (page) => ({
    ...page,
    items: page.items.map((item) => ({
      ...item,
      timestamp: new Date(Date.parse(String(item['timestamp'])) - tenYearsMs).toISOString(),
    })),
  });
  await sync(bounded);
  const wanted = async () =>
    (await query('select from explorer.user_operations where block_number >= 50')).length;
  expect(await wanted()).toBeLessThan(200);

  list.lie = honestly;
  await sync(bounded);
  const isWhole = (await wanted()) === 451;
  expect(isWhole || (await open()).length > 0).toBe(true);
  await sync(bounded);

  expect(await wanted()).toBe(451);
  await sync(bounded);
  expect(await open()).toEqual([]);
});

test.each<[string, number, number]>([
  ['fewer than half of the known items of a page', 0, 4],
  ['both known items of a page', 8, 2],
])('a bound counts although %s report other times', async (_, added, wrong) => {
  const bounded = { listSince: timeOf(150) };
  const { list, sync, query } = await copiedList(bounded);
  const held = () => query('select from explorer.user_operations where block_number < 150');
  const before = await held();
  list.operations = [...list.operations, ...oneEach(201, 200 + added)];
  list.lieOnce(1, (page) => ({
    ...page,
    items: page.items.map((item, at) =>
      at >= added && at < added + wrong ? { ...item, timestamp: timeOf(1) } : item,
    ),
  }));

  await sync({ ...bounded, overlapMs: 0 });
  await sync({ ...bounded, overlapMs: 0 });

  expect(await held()).toHaveLength(before.length);
});

test('operations that two pages skip stay if another page has shown them in between', async () => {
  const { list, sync, removed, expectComplete } = await copiedList();
  const overlap = { overlapMs: 40_000 };
  const skips: PageLie = (page) => ({
    ...page,
    items: page.items.filter((item) => !/19[2-7]/u.test(String(item['block_number']))),
  });
  list.lieOnce(1, skips);
  await sync(overlap);
  await sync(overlap);

  list.lieOnce(1, skips);
  await sync(overlap);

  expect(await removed()).toEqual([]);
  await expectComplete();
});

test('operations that one walk skips stay although another has skipped some beside them', async () => {
  const { list, sync, removed, expectComplete } = await copiedList();
  list.lie = ({ items, ...page }, { cursor }) =>
    cursor === tokenOf(150) ? { ...page, items: [...items.slice(0, 2), ...items.slice(7)] } : null;
  await sync({ again: true });
  list.lie = (page, { cursor }) =>
    cursor === null ? { ...page, next_page_params: { page_token: tokenOf(143) } } : null;

  await sync({ again: true });

  expect(await removed()).toEqual([]);
  await expectComplete();
});

test.runIf(inject('isLong'))(
  'operations that two pages skip stay although the walk that showed them in between is old',
  async () => {
    const { list, sync, removed, db, query } = await copiedList();
    const skips: PageLie = (page) => ({
      ...page,
      items: page.items.filter((item) => !/19[2-5]/u.test(String(item['block_number']))),
    });
    list.lieOnce(1, skips);
    await sync({ overlapMs: 40_000 });
    await sync({ overlapMs: 40_000 });
    list.operations = [...list.operations, ...oneEach(201, 216)];
    await sync({ overlapMs: 0 });
    await sync({ overlapMs: 0 });
    await query(`
    update etl.walks set started_at = started_at - interval '90 days', finished_at = finished_at - interval '90 days';
    update etl.runs set opened_at = opened_at - interval '90 days', closed_at = closed_at - interval '90 days'`);
    await pruneLedger(db, 30, new Date(), new AbortController().signal);

    list.lie = skips;
    await sync({ overlapMs: 80_000, resweep: [] });

    expect(await removed()).toEqual([]);
  },
);

/** A page whose numbers are all one too high. */
const oneHigh = (page: Page): Page => ({
  ...page,
  items: page.items.map((item) => ({
    ...item,
    block_number: String(Number(item['block_number']) + 1),
  })),
});

test.each([2, ...inLong(5, pages)])(
  'page %i of a first reading, with all numbers one too high, confirms none of them',
  async (nth) => {
    const { list, sync, removed, expectComplete, expectNothingHidden } = await lyingList();
    list.lieOnce(nth, oneHigh);
    await sync();
    await expectNothingHidden();

    for (let round = 0; round < 2; round += 1) {
      await sync();
      await expectNothingHidden();
      expect(await removed()).toEqual([]);
    }

    await expectComplete();
  },
);

test('a new item of a page that belongs nowhere has no block until a page in order shows it', async () => {
  const { list, sync, query, expectComplete, expectNothingHidden } = await copiedList();
  const late = { block: 185, id: 2 ** 30, fee: '1' };
  list.operations = [...list.operations, late];
  list.lieOnce(2, oneHigh);
  await sync({ overlapMs: 40_000 });

  const blockOf = `select block_number::int as block from explorer.user_operations where hash = '${hashOf(late.id)}'`;
  expect(await query(blockOf)).toEqual([{ block: null }]);
  await expectNothingHidden();

  await sync({ overlapMs: 40_000 });

  expect(await query(blockOf)).toEqual([{ block: late.block }]);
  await expectComplete();
});

test('a replay keeps what an item named that has no block, beside its unknown fields', async () => {
  const { list, sync, query, db } = await copiedList();
  const late = { block: 185, id: 2 ** 30, fee: '1' };
  list.operations = [...list.operations, late];
  list.lieOnce(2, (page) => ({
    ...page,
    items: oneHigh(page).items.map((item) => ({ ...item, new_field: 7 })),
  }));
  await sync({ overlapMs: 40_000, archive: 'all' });

  await replayed({ db });

  const row = `select block_number, extra from explorer.user_operations where hash = '${hashOf(late.id)}'`;
  const extra = { new_field: 7, 'block_number (out of order)': late.block + 1 };
  expect(await query(row)).toEqual([{ block_number: null, extra }]);
});

test('an item out of order that is on no later page of either place has left the list', async () => {
  const { list, sync, removed, expectComplete } = await lyingList();
  const hash = hashOf(2 ** 40);
  list.lieOnce(2, (page) => ({
    ...page,
    items: page.items.map((item, at) => (at === 4 ? { ...item, hash, block_number: '3' } : item)),
  }));
  await sync();
  await sync();

  await expectComplete();
  expect(await removed()).toEqual([hash]);
});

test('an item out of order has left the list also if its feed was reset since', async () => {
  const { list, sync, db, removed, expectComplete } = await lyingList();
  const hash = hashOf(2 ** 40);
  list.lieOnce(2, (page) => ({
    ...page,
    items: page.items.map((item, at) => (at === 4 ? { ...item, hash, block_number: '3' } : item)),
  }));
  await sync({ maxPages: 3 });
  await resetFeed(db, { chain_id: 10, operation: 'user-operations' });

  await sync();

  await expectComplete();
  expect(await removed()).toEqual([hash]);
});

test('a number that was empty before its batch came is not empty by one false answer', async () => {
  const { list, poll, verify, states } = await batchWorld(0, { fromBatch: 1, toBatch: 3 });
  await poll(0);
  for (const number of range(1, 3)) list.batches.set(number, [{ height: 1_000 + number }]);
  const answers = [noItems];
  list.lie = (_, { batch }) => (batch === 1 ? (answers.pop() ?? null) : null);

  await poll(1_440);

  expect(answers).toEqual([]);
  expect(await states()).toMatchObject({ 1: 'settled', 2: 'settled' });
  expect((await verify()).open).toEqual([]);
});

test('an item out of order stays if the block that it names was read before it, and not since', async () => {
  const { list, sync, removed, open } = await copiedList();
  const late = { block: 50, id: 2 ** 30 };
  list.operations = [...list.operations, ...oneEach(201, 240), late];
  list.lieOnce(2, (page) => ({
    ...page,
    items: page.items.map((item, at) =>
      at === 4 ? { ...item, hash: hashOf(late.id), block_number: '50' } : item,
    ),
  }));
  await sync();
  await sync();

  expect(await open()).toEqual([]);
  expect(await removed()).toEqual([]);
});

test.each<[string, PageLie]>([
  ['in order', (page) => page],
  ['of which nothing is in order', reversed],
])(
  'an item out of order on a page %s stays if only the block that it names was read since',
  async (_, lie) => {
    const { list, sync, removed, open, expectComplete } = await copiedList();
    const late = { block: 85, id: 2 ** 30 };
    list.operations = [...list.operations, late];
    list.lie = (page, request) => {
      const items = page.items.map((item) =>
        item['hash'] === hashOf(late.id) ? { ...item, block_number: '40' } : item,
      );
      return request.cursor === tokenOf(90) ? lie({ ...page, items }, request) : null;
    };

    await sync({ again: true });
    list.lie = honestly;
    await sync();

    expect(await open()).toEqual([]);
    expect(await removed()).toEqual([]);
    await sync({ again: true });
    await expectComplete();
  },
);

/** Numbers of which one has no batch: the blocks of the next number follow those of the one before. */
async function worldWithout(unused: number, newest: number, size: number) {
  const world = await batchWorld(0);
  const used = range(1, newest).filter((number) => number !== unused);
  for (const [place, number] of used.entries()) {
    const first = 1_000 + place * size;
    const blocks = range(first, first + size - 1).map((height) => ({ height }));
    world.list.batches.set(number, blocks);
  }
  /** All blocks of a number, on one page. */
  const blocksOf = (number: number): Page => {
    const blocks = world.list.batches.get(number) ?? [];
    return { items: blocks.toReversed().map(blockItem), next_page_params: null };
  };
  return { ...world, blocksOf };
}

test.each(inLong(6, 4))(
  'a number without a batch that once answers with the blocks of %i does not make that one empty',
  async (taken) => {
    const { list, poll, states, verify, blocksOf } = await worldWithout(5, 9, batchBlocks);
    list.lie = (_, { batch }) => (batch === 5 ? blocksOf(taken) : null);
    for (let minute = 0; minute < 3; minute += 1) await poll(minute);
    // Whichever of both was read last has the blocks.
    expect((await verify()).open.join()).toMatch(/batch [456]: /u);

    list.lie = honestly;
    for (let day = 1; day < 6; day += 1) await poll(day * 1_440);

    expect((await verify()).open).toEqual([]);
    expect(await states()).toMatchObject({ 5: 'empty, verified', [taken]: 'settled' });
  },
);

test('no number is empty without a request', async () => {
  const { list, poll, states, verify, blocksOf } = await worldWithout(4, 6, pageSize);
  // The search for the newest batch reads 4 and 6, of one page each, before 5.
  let isFirst = true;
  list.lie = (_, { batch }) => {
    if (batch !== 4 || !isFirst) return null;
    isFirst = false;
    return blocksOf(5);
  };

  expect(await poll(0)).toContain(5);
  for (let day = 1; day < 4; day += 1) await poll(day * 1_440);

  expect((await verify()).open).toEqual([]);
  expect(await states()).toMatchObject({ 4: 'empty, verified', 5: 'settled' });
});

test('a page of which nothing is in order takes no evidence from the rows that it shows', async () => {
  const { list, sync, open, removed, expectComplete } = await copiedList();
  const blockOf = (cursor: string | null) => Number(cursor?.split(',')[0] ?? Infinity);
  list.lie = (page, { cursor }) => (blockOf(cursor) <= 170 ? reversed(page) : null);
  await sync({ again: true });
  list.lie = ({ items }, { cursor }) =>
    cursor === tokenOf(180) ? { items, next_page_params: null } : null;
  await sync({ again: true });

  expect((await open()).join()).toContain('truncated');
  expect(await removed()).toEqual([]);
  list.lie = honestly;
  await sync();
  await sync({ again: true });
  await expectComplete();
});
