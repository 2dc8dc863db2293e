import { expect, test } from 'vitest';
import { batchBlocks, batchWorld, fullBatch, pageSize } from '../../harness/batch-world.ts';
import { blockItem, honestly, type KeptBlock, noItems, type Page } from '../../harness/kept.ts';
import { openRun } from '../../harness/runs.ts';

const bottomOf = (number: number) => 1000 + number * batchBlocks;
/** The cursor of a batch's second page. */
const secondPage = (number: number) => bottomOf(number) + batchBlocks - pageSize;

/** What becomes of a page; `from` is null at the head. */
type Spoil = (page: Page, from: string | null) => Page;

/** Every way in which a page can end its list before the list does. */
const earlyEnds: readonly (readonly [string, Spoil])[] = [
  ['an empty page behind a cursor', (page, from) => (from === null ? page : noItems)],
  ['a short page without a cursor', ({ items }) => ({ ...noItems, items: items.slice(0, 4) })],
  ['a full page without a cursor', ({ items }) => ({ ...noItems, items })],
];

test.each<readonly [string, readonly Spoil[]]>([
  ...earlyEnds.map(([name, cut]) => [name, [cut]] as const),
  ['an empty first page', [() => noItems]],
  [
    'an empty page and then a page without a cursor',
    [
      (page, from) => (from === null ? page : noItems),
      (page) => ({ ...page, next_page_params: null }),
    ],
  ],
])(
  'a lowest batch whose list ended early, by %s, is complete after the first poll',
  async (_name, lies) => {
    const cuts = [...lies];
    const { list, poll, verify, membersOf } = await batchWorld(5, { fromBatch: 1, toBatch: 5 });
    list.lie = (page, { batch, cursor }) => {
      const altered = batch === 1 ? (cuts[0]?.(page, cursor) ?? page) : page;
      if (altered !== page) cuts.shift();
      return altered;
    };

    await poll(0);

    expect(cuts).toEqual([]);
    expect(await membersOf(bottomOf(1), bottomOf(2) - 1)).toEqual(Array(batchBlocks).fill(1));
    expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 4 }] });
  },
);

test.each(earlyEnds)(
  'a batch between others whose list ended early, by %s, is open until it is complete',
  async (_name, cut) => {
    const { list, poll, verify, states } = await batchWorld(6, { fromBatch: 1, toBatch: 6 });
    list.lie = (page, { batch, cursor }) => (batch === 3 ? cut(page, cursor) : null);
    await poll(0);
    expect(await states()).toMatchObject({ 2: 'open', 3: 'open', 4: 'settled' });
    expect((await verify()).open).not.toEqual([]);

    list.lie = honestly;
    await poll(10);

    expect(await states()).toMatchObject({ 2: 'settled', 3: 'settled' });
    expect((await verify()).open).toEqual([]);
  },
);

test('a list that ends above known blocks removes none of them, and the batch is open', async () => {
  const { list, poll, verify, states, membersOf } = await batchWorld(5);
  // Without its link the newest but one is read whole again.
  list.batches.set(4, fullBatch(4).toSpliced(12, 1));
  await poll(0);
  expect(await states()).toMatchObject({ 3: 'settled', 4: 'open' });

  list.lie = (_, { batch, cursor }) => (batch === 4 && cursor !== null ? noItems : null);
  list.batches.set(4, fullBatch(4));
  await poll(10);
  expect(new Set(await membersOf(bottomOf(4), bottomOf(4) + pageSize))).toEqual(new Set([4]));
  expect(await states()).toMatchObject({ 4: 'open' });

  list.lie = (_, { batch }) => (batch === 4 ? noItems : null);
  await poll(20);
  expect(new Set(await membersOf(bottomOf(4), bottomOf(4) + pageSize))).toEqual(new Set([4]));
  expect(await states()).toMatchObject({ 4: 'open' });

  list.lie = honestly;
  list.batches.set(6, fullBatch(6));
  for (const minute of [30, 40, 50]) await poll(minute);
  expect(await states()).toMatchObject({ 3: 'settled', 4: 'settled', 5: 'settled' });
  expect((await verify()).open).toEqual([]);
});

type Omission = (items: Page['items'], height: number) => Page['items'];

/** What a page that says too little shows of a block that is stored. */
const omissions: readonly (readonly [string, Omission])[] = [
  [
    'in quarantine',
    (items, height) =>
      items.map((item) => (item['height'] === height ? { ...item, hash: 'none' } : item)),
  ],
  [
    'left out of a page in disorder',
    ([first = {}, ...others], height) =>
      [...others, first].filter((item) => item['height'] !== height),
  ],
];

test.each(omissions)(
  'a block stays in its batch if a later walk has it %s',
  async (_name, omit) => {
    const { list, poll, membersOf } = await batchWorld(5);
    const height = bottomOf(4) + 14;
    // Without its link the newest but one is read whole again.
    list.batches.set(4, fullBatch(4).toSpliced(12, 1));
    await poll(0);
    expect(await membersOf(height, height)).toEqual([4]);

    let omitted = 0;
    list.batches.set(4, fullBatch(4));
    list.lie = ({ items, ...rest }, { batch }) => {
      if (batch !== 4) return null;
      omitted += items.some((item) => item['height'] === height) ? 1 : 0;
      return { ...rest, items: omit(items, height) };
    };
    await poll(10);

    expect(omitted).toBeGreaterThan(0);
    expect(await membersOf(height, height)).toEqual([4]);
  },
);

/** A page of another place of the list, or its own items in a wrong way. */
const disorders: readonly (readonly [string, Spoil])[] = [
  [
    'two items swapped',
    ({ items, ...rest }) => ({
      ...rest,
      items: [...items.slice(1, 2), ...items.slice(0, 1), ...items.slice(2)],
    }),
  ],
  [
    'an item that is no block',
    ({ items, ...rest }) => ({ ...rest, items: [...items, { height: 1 }] }),
  ],
  [
    'the first page again instead of the second',
    (page, from) =>
      Number(from) === secondPage(3)
        ? { ...page, items: fullBatch(3).slice(-pageSize).toReversed().map(blockItem) }
        : page,
  ],
  [
    'no link to the block below',
    ({ items, ...rest }) => ({
      ...rest,
      items: items.map((item) => ({ ...item, parent_hash: null })),
    }),
  ],
  [
    "another batch's page instead of its last",
    (page, from) =>
      from !== null && page.next_page_params === null
        ? { ...page, items: fullBatch(1).slice(-4).toReversed().map(blockItem) }
        : page,
  ],
];

test.each(disorders)(
  'a batch that was read with %s is not verified until it is read in order',
  async (_name, spoil) => {
    const { list, poll, verify, states } = await batchWorld(6, { fromBatch: 1, toBatch: 6 });
    list.lie = (page, { batch, cursor }) => (batch === 3 ? spoil(page, cursor) : null);
    await poll(0);
    expect((await states())[3]).toBe('open');
    expect((await verify()).open).not.toEqual([]);

    list.lie = honestly;
    for (const minute of [10, 20, 40]) await poll(minute);

    expect(await states()).toMatchObject({
      1: 'settled',
      2: 'settled',
      3: 'settled',
      4: 'settled',
    });
    // What is no block stays in quarantine.
    expect((await verify()).open.filter((what) => !what.includes('quarantine'))).toEqual([]);
  },
);

test('a range in which no batch was found is open', async () => {
  const empty = await batchWorld(0);
  await empty.poll(0);
  expect((await empty.verify()).open).toEqual(['the newest batch is not found yet']);

  const bounded = await batchWorld(0, { fromBatch: 1, toBatch: 8 });
  await bounded.poll(0);
  expect((await bounded.verify()).open).toEqual([
    'batches 1 to 8: downloaded as empty, which no neighbour confirms',
  ]);
});

test('a search for the newest batch that was interrupted leaves the feed open', async () => {
  const { runner, verify, lanes, list } = await batchWorld(5);
  list.lie = () => {
    throw new Error('not reached');
  };
  const [live, backfill] = lanes;
  if (live === undefined || backfill === undefined) throw new Error('two lanes');
  await openRun(runner.db, backfill.lane, backfill.scope);

  expect((await verify()).open).toContain('the newest batch is not found yet');
});

test('later polls find the batches above a latest batch that false empty responses showed', async () => {
  const { list, poll, states } = await batchWorld(40);
  list.lie = (_, { batch }) => ((batch ?? 0) > 12 ? noItems : null);
  await poll(0);
  expect(await states()).toMatchObject({ 11: 'settled', 12: 'open' });
  list.lie = honestly;

  await poll(10);
  await poll(20);

  expect(await states()).toMatchObject({ 12: 'settled', 39: 'settled', 40: 'open' });
});

const withoutLinks = (blocks: readonly KeptBlock[]): KeptBlock[] =>
  blocks.map((block) => ({ ...block, hasNoParent: true }));

test('batches that never link are open with their cause, and seldom requested again', async () => {
  const { list, poll, verify, states } = await batchWorld(6);
  await poll(0);
  expect((await verify()).open).toEqual([]);
  let minute = 0;
  for (let number = 7; number <= 14; number += 1) {
    list.batches.set(number, withoutLinks(fullBatch(number)));
    await poll((minute += 10));
    await poll((minute += 10));
  }
  expect((await verify()).open).toEqual([
    'batches 6 to 14: 9 not verified above the highest verified one',
    'batches 6 to 7: heights or hashes do not link at the border',
    'batch 7: 24 blocks without a parent hash',
    'batches 7 to 8: heights or hashes do not link at the border',
    'batch 8: 24 blocks without a parent hash',
  ]);

  // Hours of polls every ten minutes: one request each, and a few rereads.
  let requests = 0;
  for (let poll_ = 0; poll_ < 18; poll_ += 1) requests += (await poll((minute += 10))).length;
  expect(requests).toBeLessThan(18 + 8 * 3 * 3);

  for (let number = 7; number <= 14; number += 1) list.batches.set(number, fullBatch(number));
  for (let day = 1; day <= 6; day += 1) await poll((minute += 1440));
  expect(await states()).toMatchObject({ 7: 'settled', 13: 'settled', 14: 'open' });
  expect((await verify()).open).toEqual([]);
});

test.each([
  ['before the next batch is added', 1],
  ['after some polls have found nothing', 4],
])('a block that moves from a verified batch to the newest is found %s', async (_name, polls) => {
  const { list, poll, membersOf, states, verify } = await batchWorld(6);
  await poll(0);
  expect(await states()).toMatchObject({ 5: 'settled', 6: 'open' });
  for (let time = 1; time < polls; time += 1) await poll(time * 10);

  const [last] = fullBatch(5).slice(-1);
  if (last === undefined) throw new Error('no block');
  list.batches.set(5, fullBatch(5).slice(0, -1));
  list.batches.set(6, [last, ...fullBatch(6)]);
  for (let time = polls; time < polls + 3; time += 1) {
    list.batches.set(6 + 1, fullBatch(7));
    await poll(time * 10);
  }
  for (const minute of [100, 1000, 2000]) await poll(minute);

  expect(await membersOf(last.height, last.height)).toEqual([6]);
  expect(await states()).toMatchObject({ 5: 'settled', 6: 'settled' });
  expect((await verify()).open).toEqual([]);
});

test('known blocks under numbers above the newest batch end a run, and the next one finds the new batch', async () => {
  const { list, poll, states } = await batchWorld(5);
  await poll(0, 'sync');
  await poll(1);
  const items = fullBatch(5).slice(-pageSize).toReversed().map(blockItem);
  list.lie = (_, { batch }) => (Number(batch) > 5 ? { items, next_page_params: null } : null);

  expect((await poll(11)).length).toBeLessThan(10);

  list.lie = honestly;
  list.batches.set(6, fullBatch(6));
  for (const minute of [21, 31, 41]) await poll(minute);
  expect(await states()).toMatchObject({ 5: 'settled', 6: 'open' });
});
