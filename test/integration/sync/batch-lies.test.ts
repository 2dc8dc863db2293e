import { expect, inject, test } from 'vitest';
import { batchBlocks, batchWorld, fullBatch, pageSize, times } from '../../harness/batch-world.ts';
import {
  batchItem,
  blockItem,
  honestly,
  type KeptBatch,
  type KeptBlock,
  noItems,
  range,
} from '../../harness/kept.ts';
import { inLong } from '../../harness/long-cases.ts';
import { openRun } from '../../harness/runs.ts';

// A batch waits for what is to come only if what is there does not contradict it.

test.runIf(inject('isLong'))(
  'batches that do not meet are open, though none of them is verified yet',
  async () => {
    const { list, poll, verify, database } = await batchWorld(12);
    await poll(0);
    await poll(10);
    list.batches.set(13, fullBatch(13).slice(5));
    list.batches.set(14, fullBatch(14));
    await poll(20);

    expect(await verify()).toMatchObject({
      open: ['batches 12 to 13: heights or hashes do not link at the border'],
      head: ['batch 14: waiting for the next batch'],
    });
    expect(
      await database.query('select verified, waiting, unverified from etl.batch_counts()'),
    ).toEqual([{ verified: '11', waiting: '1', unverified: '2' }]);
    expect(await database.query('select from_block, to_block from explorer.gaps')).toEqual([
      { from_block: '12', to_block: '13' },
    ]);

    list.batches.set(13, fullBatch(13));
    await poll(1_440);
    await poll(2_880);

    expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 13 }] });
  },
);

test('a newest batch that lost its blocks while a poll ran leads the poll round in no circle', async () => {
  const { list, poll, verify, runner, lanes, database } = await batchWorld(7);
  await poll(0);
  const live = lanes.find(({ lane }) => lane.lane === 'live');
  if (live === undefined) throw new Error('no live lane');
  await openRun(runner.db, live.lane, live.scope);
  await database.query(`update etl.runs set latest_batch_before = 10 where state = 'open'`);
  list.batches.set(8, fullBatch(8));
  let read = 0;
  // A poll that never ends is cut here.
  const budget = { spent: false, takePage: () => (read += 1) < 200 };

  const requested = await poll(10, 'schedule', () => budget);

  expect(times(requested, 8)).toBeLessThanOrEqual(4);
  expect(await verify()).toMatchObject({ open: [], head: ['batch 8: waiting for the next batch'] });
});

test('known blocks under a number far above the newest batch make none missing once they are taken back', async () => {
  const { list, poll, verify, database } = await batchWorld(5);
  const items = fullBatch(5)
    .slice(-pageSize)
    .map((block) => blockItem(block))
    .toReversed();
  list.lie = (_, { batch }) =>
    Number(batch) === 8 || Number(batch) === 16 ? { items, next_page_params: null } : null;
  // The search doubles its steps; no poll requests 16 again.
  expect(await poll(0)).toContain(16);
  list.lie = honestly;

  await poll(10);

  expect(await verify()).toMatchObject({ open: [], head: ['batch 5: waiting for the next batch'] });
  expect(await database.query('select from_block, to_block from explorer.gaps')).toEqual([]);
  expect(await database.query('select requested, unverified from etl.batch_counts()')).toEqual([
    { requested: '5', unverified: '0' },
  ]);
});

const listed = (number: number): KeptBatch => {
  const first = 1_000 + number * batchBlocks;
  return { number, blocks: [first, first + batchBlocks - 1] };
};

test.runIf(inject('isLong'))(
  'a number that the list of batches named once is missing only until its next read',
  async () => {
    const { list, poll, verify } = await batchWorld(5, {}, ['optimism-batches']);
    list.listed = range(1, 5).map(listed);
    await poll(0);
    list.lie = ({ items, ...page }, { operation, cursor }) =>
      operation === 'optimism-batches' && cursor === null
        ? { ...page, items: [batchItem({ number: 900, blocks: [1, 2] }), ...items] }
        : null;
    expect(await poll(10)).toContain(900);
    expect((await verify()).open).toEqual(['batch 900: listed, but without blocks']);

    list.lie = honestly;

    expect(await poll(20)).not.toContain(900);
    expect((await verify()).open).toEqual([]);
  },
);

const some = (number: number): readonly KeptBlock[] => fullBatch(number).slice(0, 9);

test.each<readonly [string, number, readonly KeptBlock[]]>([
  ['blocks that follow the newest batch', 6, some(6)],
  ...inLong<[string, number, readonly KeptBlock[]]>(
    ['blocks of a later batch', 7, some(7)],
    ['blocks of another chain', 6, some(40)],
    ['blocks of the newest batch', 6, some(5)],
  ),
])('a number above the newest that once has %s is none', async (_name, number, blocks) => {
  const { list, poll, verify, states, membersOf } = await batchWorld(5);
  await poll(0);
  if (number === 7) await poll(10);
  const items = blocks.toReversed().map(blockItem);
  list.lie = (_, { batch }) => (batch === number ? { items, next_page_params: null } : null);
  expect(await poll(20)).toContain(number);

  list.lie = honestly;
  for (const minute of [30, 40, 1_440, 2_880]) await poll(minute);

  const head = ['batch 5: waiting for the next batch'];
  expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 4 }], head });
  expect(await membersOf(1_000 + 6 * batchBlocks, Number.MAX_SAFE_INTEGER)).not.toContain(number);

  list.batches.set(6, fullBatch(6));
  for (const minute of [4_320, 4_330, 4_340]) await poll(minute);

  expect(await states()).toMatchObject({ 5: 'settled', 6: 'open' });
  expect((await verify()).open).toEqual([]);
});

test.runIf(inject('isLong'))(
  'a batch keeps its blocks if a walk that failed met some between two that were empty',
  async () => {
    const { list, poll, membersOf, states } = await batchWorld(5);
    await poll(0);
    const empty: typeof list.lie = (_, { batch }) => (batch === 5 ? noItems : null);
    list.lie = empty;
    expect(await poll(10)).toContain(5);
    list.lie = (page, { batch, cursor }) =>
      batch === 5 && cursor !== null
        ? { ...page, next_page_params: { block_number: cursor } }
        : null;
    await expect(poll(20)).rejects.toThrow(/./u);
    list.lie = empty;
    expect(await poll(30)).toContain(5);

    const ofFive = range(1_000 + 5 * batchBlocks, 999 + 6 * batchBlocks);
    expect(await membersOf(ofFive[0] ?? 0, ofFive.at(-1) ?? 0)).toEqual(ofFive.map(() => 5));
    expect(await states()).toMatchObject({ 5: 'open' });

    await poll(40);

    expect(await states()).toMatchObject({ 5: 'empty' });
  },
);

test.runIf(inject('isLong'))(
  'the search for the newest batch passes no number whose first page once is empty and leads on',
  async () => {
    const { list, poll, states } = await batchWorld(5);
    const misled = new Set<number | null>();
    list.lie = (_, { batch }) => {
      if (misled.has(batch)) return null;
      misled.add(batch);
      return { items: [], next_page_params: { block_number: 500 } };
    };

    await poll(0);

    expect(await states()).toMatchObject({ 1: 'settled', 4: 'settled', 5: 'open' });
  },
);

test('where the lowest batch begins is no end that two walks met once each', async () => {
  const { list, poll, membersOf, verify } = await batchWorld(3);
  let heads = 0;
  list.lie = (page, { batch, cursor }) => {
    if (batch !== 1 || cursor !== null) return null;
    heads += 1;
    if (heads === 2) return { items: [], next_page_params: { block_number: 500 } };
    return heads <= 3 ? { ...page, next_page_params: null } : null;
  };

  await poll(0);

  expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 2 }] });
  const ofOne = range(1_000 + batchBlocks, 999 + 2 * batchBlocks);
  expect(await membersOf(ofOne[0] ?? 0, ofOne.at(-1) ?? 0)).toEqual(ofOne.map(() => 1));
});

test.runIf(inject('isLong'))(
  'the parent of the lowest block is none that two answers in turn showed',
  async () => {
    const { list, poll, verify, database } = await batchWorld(3);
    const bottom = 1_000 + batchBlocks;
    let ends = 0;
    list.lie = (page, { batch }) => {
      const { items } = page;
      if (batch !== 1 || items.at(-1)?.['height'] !== bottom) return null;
      ends += 1;
      // Another one first, then the same wrong parent of another block and of the lowest, in turn.
      const wrong = ends % 2 === 0 ? bottom : bottom + 1;
      return ends === 1 || ends > 4
        ? null
        : {
            ...page,
            items: items.map((item) =>
              item['height'] === wrong ? blockItem({ height: wrong, parentEdition: 9 }) : item,
            ),
          };
    };

    for (const minute of [0, 10, 1_440]) await poll(minute).catch(() => undefined);

    const [row] = await database.query(
      `select parent_hash as hash from explorer.blocks where height = ${bottom}`,
    );
    expect(row?.hash).toBe(blockItem({ height: bottom })['parent_hash']);
    expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 2 }] });
  },
);

test('a block that a newer page wrote stays in its batch, although a walk was not served it', async () => {
  const { list, poll, membersOf, database } = await batchWorld(4);
  const top = 999 + 5 * batchBlocks;
  await poll(0);
  list.batches.set(4, fullBatch(4).slice(0, -3));
  await database.query('update explorer.blocks set page_id = 1000000 where height = $1', [top]);

  await poll(10);

  expect(await membersOf(top - 3, top)).toEqual([4, null, null, 4]);
});
