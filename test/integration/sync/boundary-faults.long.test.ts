import { expect, test } from 'vitest';
import type { SyncRun } from '../../harness/sync.ts';
import { hashOf, type KeptOperation, noItems, type PageLie } from '../../harness/kept.ts';
import { lyingList } from './lying-list.ts';

const pageSize = 3;
/** Enough for several walks to pay; where only the first synthetic cursor matters, a few are. */
const many = 200;
const few = 30;

/** Two operations in each block, the newest first. */
const listOf = (pages: number): KeptOperation[] =>
  Array.from({ length: pages * pageSize }, (_, index) => ({
    block: 1 + Math.floor(index / 2),
    id: index + 1,
  })).toReversed();

/** A position that no item has: a synthetic cursor. */
const isSynthetic = (token: string) => token.endsWith('f'.repeat(64));

type Served = ReturnType<PageLie>;
type Request = Parameters<PageLie>[1] & { readonly cursor: string };

/** A list that several walks read side by side, since one waits for each answer. */
async function world(pages: number, isListed: (block: number) => boolean = () => true) {
  const operations = listOf(pages).filter(({ block }) => isListed(block));
  const copy = await lyingList(operations);
  const { list, query } = copy;
  list.latencyMs = 25;
  const sync = (run: Partial<SyncRun> = {}) =>
    copy.sync({ pageSize, parallel: 6, overlapMs: 0, ...run });
  /** Answers synthetic cursors in its own way, and counts them. */
  const answerSynthetic = (answer: (request: Request) => Served) => {
    const requested = { times: 0 };
    list.lie = (_, { cursor, ...request }) => {
      if (cursor === null || !isSynthetic(cursor)) return null;
      requested.times += 1;
      return answer({ ...request, cursor });
    };
    return requested;
  };
  const tokenAt = (place: number): string => {
    const { block, id } = operations[place] ?? { block: 0, id: 0 };
    return `${block},${hashOf(id)}`;
  };
  const placeOf = (token: string) =>
    operations.findIndex(({ block }) => block <= Number(token.split(',')[0]));
  /** Makes a gap: forgets rows, and that their blocks were read. */
  const dig = async (from: number, to: number) => {
    const gap = `int8multirange(int8range(${from}, ${to}, '[]'))`;
    await query(`
      delete from explorer.user_operations where block_number between ${from} and ${to};
      update etl.walks set verified = verified - ${gap};
      update etl.coverage set verified = verified - ${gap}`);
  };
  return { ...copy, sync, answerSynthetic, tokenAt, placeOf, dig };
}

type World = Awaited<ReturnType<typeof world>>;

test.each<[string, (nth: number) => boolean]>([
  ['no position is answered late', () => false],
  ['the first position is answered last', (nth) => nth === 1],
  ['the second position is answered last', (nth) => nth === 2],
  ['every other position is answered later', (nth) => nth % 2 === 0],
  ['each but the newest is answered later', (nth) => nth < 6],
])('parallel walks read no page twice if %s', async (_, isLate) => {
  const { list, sync, query, answerSynthetic, expectComplete } = await world(many);
  const soon = list.latencyMs;
  const synthetic = answerSynthetic(() => {
    list.latencyMs = isLate(synthetic.times) ? soon * 8 : soon;
    return null;
  });
  list.onRequest = () => void (list.latencyMs = soon);

  const requests = await sync();

  await expectComplete();
  // Beside them the end is requested once more, and one position below it is tried.
  expect(requests).toBeLessThanOrEqual(many * 1.02 + 2 + 2);
  const entered = await query(`select from etl.walks where scope ? 'entry' and pages > 1`);
  expect(entered.length).toBeGreaterThan(1);
});

test.each<[string, number, (at: World, request: Request) => Served, number]>([
  // Two positions are tried at once, and then no other.
  ['refuses it', few, () => ({ status: 400 }), 2],
  ['fails at it', few, () => ({ status: 422 }), 3],
  ['serves the head instead', few, ({ tokenAt }, { pageAt }) => pageAt(tokenAt(0)), 2],
  ['serves nothing', few, () => noItems, 10],
  [
    'serves an empty page',
    few,
    (_, { cursor }) => ({
      items: [],
      next_page_params: { page_token: cursor.replace(/f$/u, 'e'), page_size: pageSize },
    }),
    10,
  ],
  [
    'begins above it',
    many,
    ({ tokenAt, placeOf }, { cursor, pageAt }) => pageAt(tokenAt(Math.max(0, placeOf(cursor) - 1))),
    2,
  ],
  [
    'begins far below it',
    many,
    ({ tokenAt, placeOf }, { cursor, pageAt }) => pageAt(tokenAt(placeOf(cursor) + 20)),
    many,
  ],
])('a service that %s at a synthetic cursor is read whole', async (_, pages, answer, most) => {
  const scene = await world(pages);
  const synthetic = scene.answerSynthetic((request) => answer(scene, request));

  await scene.sync();

  await scene.expectComplete();
  expect(synthetic.times).toBeGreaterThan(0);
  expect(synthetic.times).toBeLessThanOrEqual(most);
});

test('a service that refuses a synthetic cursor gets no other for a day', async () => {
  const { sync, dig, answerSynthetic, expectComplete } = await world(220);
  const synthetic = answerSynthetic(() => ({ status: 400 }));
  /** Reads the list, then makes a gap of two hundred pages: walks side by side pay in it. */
  const syncAt = async (hour: number) => {
    await sync({ at: new Date(Date.UTC(2026, 0, 2, hour)) });
    await expectComplete();
    await dig(10, 320);
    return synthetic.times;
  };
  const times = await syncAt(0);
  expect(times).toBeGreaterThan(0);

  expect(await syncAt(23)).toBe(times);
  expect(await syncAt(25)).toBeGreaterThan(times);
});

test.each([
  ['one block', 20, 20, 0],
  ['a few blocks', 20, 31, 0],
  // The end is requested once more.
  ['the lowest blocks', 1, 20, 1],
])('a gap of %s is entered exactly', async (_, from, to, more) => {
  const { sync, dig, expectComplete } = await world(few);
  await sync();
  await dig(from, to);
  const items = (to - from + 1) * 2;

  const requests = await sync();

  // Two operations of the newest block, and pages of three: what is below is on the second.
  const poll = 2;
  expect(requests).toBeLessThanOrEqual(Math.ceil(items / pageSize) + 1 + poll + more);
  await expectComplete();
});

test.each([
  ['a range with an empty one above it', 20, 60],
  ['a range of which nothing is listed', 60, 80],
])('%s is read with few requests', async (_, fromBlock, toBlock) => {
  const { sync, gaps } = await world(few * 10, (block) => block <= 40 || block > 250);
  // Each try to enter it is one that costs a page or two, and goes twice as far.
  const tries = 2 * Math.log2(250 - toBlock);
  const items = 2 * (toBlock - fromBlock + 250 - toBlock);

  const requests = await sync({ fromBlock, toBlock });

  expect(requests).toBeLessThanOrEqual(tries + items / pageSize + 2);
  const left = await gaps();
  expect(
    left.filter(({ from_block, to_block }) => from_block <= toBlock && to_block >= fromBlock),
  ).toEqual([]);
});
