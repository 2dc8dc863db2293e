import { expect, test } from 'vitest';
import type { ScopeBounds } from '../../../src/lists/list.ts';
import { freshDatabase } from '../../harness/database.ts';
import {
  hashOf,
  listOperations,
  type ListedOperation,
  type OperationsList,
} from '../../harness/listed-operations.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

const pageSize = 3;
/** Enough for several walks to pay; where only the first synthetic cursor matters, a few are. */
const many = 200;
const few = 30;

/** Two operations in each block, the newest first. */
const listOf = (pages: number): ListedOperation[] =>
  Array.from({ length: pages * pageSize }, (_, index) => ({
    block: 1 + Math.floor(index / 2),
    id: index + 1,
  })).toReversed();

/** A position that no item has: one that was made. */
const isMade = (token: string) => token.endsWith('f'.repeat(64));

/** A list that several walks read side by side, since one waits for each answer. */
async function world(pages: number, isListed: (block: number) => boolean = () => true) {
  const operations = listOf(pages).filter(({ block }) => isListed(block));
  const list = await listOperations(operations);
  list.latencyMs = 25;
  const database = await freshDatabase();
  const sync = async (bounds: ScopeBounds & { readonly most?: number } = {}) => {
    const { most = Infinity, ...range } = bounds;
    const stop = new AbortController();
    const { onRequest } = list;
    let requests = 0;
    list.onRequest = (token) => {
      requests += 1;
      if (requests > most) stop.abort();
      return onRequest(token);
    };
    const results = await runSync(database, {
      ...range,
      url: list.url,
      chains: [listedChain],
      operations: ['user-operations'],
      pageSize,
      parallel: 6,
      overlapMs: 0,
      signal: stop.signal,
    });
    list.onRequest = onRequest;
    return { states: results.map(({ state }) => state), requests: list.takeRequests() };
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  /** How many rows there are too few, what is not verified, and how the feed is. */
  const stands = async () => ({
    missing:
      operations.length -
      (await query('select count(*)::int as rows from explorer.user_operations'))[0].rows,
    gaps: await query('select from_block, to_block from explorer.gaps'),
    feed: (await query('select state from etl.feeds'))[0].state,
  });
  /** Answers synthetic cursors in its own way, and counts them. */
  const answerMade = (answer: (token: string) => Answer) => {
    const requested = { times: 0 };
    list.onRequest = (token) => {
      if (token === null || !isMade(token)) return null;
      requested.times += 1;
      return answer(token);
    };
    return requested;
  };
  const pageFrom = (place: number): Answer => {
    const next = operations[place + pageSize];
    return {
      operations: operations.slice(place, place + pageSize),
      next: next === undefined ? null : `${next.block},${hashOf(next.id)}`,
    };
  };
  const placeOf = (token: string) =>
    operations.findIndex(({ block }) => block <= Number(token.split(',')[0]));
  return { list, sync, query, stands, answerMade, pageFrom, placeOf };
}

type Answer = ReturnType<OperationsList['onRequest']>;
type World = Awaited<ReturnType<typeof world>>;

const whole = { missing: 0, gaps: [], feed: 'idle' };

test('history is read by walks side by side, for one request in a hundred more', async () => {
  const { sync, query, stands } = await world(many);

  const { requests } = await sync();

  expect(await stands()).toEqual(whole);
  // Beside them the end is requested once more, and one position below it is tried.
  expect(requests).toBeLessThanOrEqual(many * 1.01 + 2 + 2);
  const [{ walks }] = await query(
    `select count(*)::int as walks from etl.walks where scope ? 'entry' and pages > 1`,
  );
  expect(walks).toBeGreaterThan(1);
});

test.each<[string, (nth: number) => boolean]>([
  ['the first position is answered last', (nth) => nth === 1],
  ['the second position is answered last', (nth) => nth === 2],
  ['every other position is answered later', (nth) => nth % 2 === 0],
  ['each but the newest is answered later', (nth) => nth < 6],
])('no part is read twice where %s', async (_, isLate) => {
  const { list, sync, stands, answerMade } = await world(many);
  const soon = list.latencyMs;
  const made = answerMade(() => {
    list.latencyMs = isLate(made.times) ? soon * 8 : soon;
    return null;
  });
  const { onRequest } = list;
  list.onRequest = (token) => {
    list.latencyMs = soon;
    return onRequest(token);
  };

  const { requests } = await sync();

  expect(await stands()).toEqual(whole);
  expect(requests).toBeLessThanOrEqual(many * 1.02 + 2 + 2);
});

test.each<[string, number, (at: World, token: string) => Answer, number]>([
  // Two positions are tried at once, and then no other.
  ['refuses it', few, () => ({ status: 400 }), 2],
  ['fails at it', few, () => ({ status: 422 }), 3],
  ['serves the head instead', few, ({ pageFrom }) => pageFrom(0), 2],
  ['serves nothing', few, () => ({ operations: [], next: null }), 10],
  [
    'serves an empty page',
    few,
    (_, token) => ({ operations: [], next: token.replace(/f$/u, 'e') }),
    10,
  ],
  [
    'begins above it',
    many,
    ({ pageFrom, placeOf }, token) => pageFrom(Math.max(0, placeOf(token) - 1)),
    2,
  ],
  [
    'begins far below it',
    many,
    ({ pageFrom, placeOf }, token) => pageFrom(placeOf(token) + 20),
    many,
  ],
])('where a position was made, a service that %s is read whole', async (_, pages, answer, most) => {
  const scene = await world(pages);
  const made = scene.answerMade((token) => answer(scene, token));

  const { states } = await scene.sync();

  expect(states).toEqual(['finished']);
  expect(await scene.stands()).toEqual(whole);
  expect(made.times).toBeGreaterThan(0);
  expect(made.times).toBeLessThanOrEqual(most);
});

test('that synthetic cursors lead nowhere is remembered', async () => {
  const { sync, query, stands, answerMade } = await world(few);
  const made = answerMade(() => ({ status: 400 }));
  await sync();
  const { times } = made;
  await dig(query, 10, 40);

  await sync();

  expect(made.times).toBe(times);
  expect(await stands()).toEqual(whole);
});

/** Makes a gap: forgets rows, and that their blocks were read. */
async function dig(query: World['query'], from: number, to: number) {
  await query(`delete from explorer.user_operations where block_number between ${from} and ${to}`);
  const gap = `int8multirange(int8range(${from}, ${to}, '[]'))`;
  await query(`update etl.walks set verified = verified - ${gap}`);
  await query(`update etl.coverage set verified = verified - ${gap}`);
}

test.each([
  ['one block', 20, 20, 0],
  ['a few blocks', 20, 31, 0],
  // The end is requested once more.
  ['the lowest blocks', 1, 20, 1],
])('a gap of %s is entered exactly', async (_, from, to, more) => {
  const { sync, query, stands } = await world(few);
  await sync();
  await dig(query, from, to);
  const items = (to - from + 1) * 2;

  const { requests } = await sync();

  // Two operations of the newest block, and pages of three: what is below is on the second.
  const poll = 2;
  expect(requests).toBeLessThanOrEqual(Math.ceil(items / pageSize) + 1 + poll + more);
  expect(await stands()).toEqual(whole);
});

test.each([
  ['a range with an empty one above it', 20, 60],
  ['a range of which nothing is listed', 60, 80],
])('%s is read with few requests', async (_, fromBlock, toBlock) => {
  const { sync, query } = await world(few * 10, (block) => block <= 40 || block > 250);
  // Each try to enter it is one that costs a page or two, and goes twice as far.
  const tries = 2 * Math.log2(250 - toBlock);
  const items = 2 * (toBlock - fromBlock + 250 - toBlock);

  const { states, requests } = await sync({ fromBlock, toBlock, most: 2 * items });

  expect(states).toEqual(['finished']);
  expect(requests).toBeLessThanOrEqual(tries + items / pageSize + 2);
  expect(
    await query(
      `select from explorer.gaps where from_block <= ${toBlock} and to_block >= ${fromBlock}`,
    ),
  ).toEqual([]);
});
