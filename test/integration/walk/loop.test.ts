import { expect, test } from 'vitest';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { holdCommits, ledgerFaults } from '../../harness/ledger.ts';
import { eventually } from '../../harness/process.ts';
import { beginRun, claim, openContender, walkOn } from '../../harness/runner.ts';
import { plainChain, runSync } from '../../harness/sync.ts';

const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;

/** So many empty pages in a row end a walk. */
const emptyPagesLimit = 100;

/** A list of user operations whose page `n` (0 has no cursor) is followed by page `next(n)`. */
async function serveList(itemsPerPage: number, next: (page: number) => number) {
  let requests = 0;
  const url = await answered(({ searchParams }) => {
    requests += 1;
    const token = searchParams.get('page_token');
    const page = token === null ? 0 : Number(token.split(',')[0]);
    const items = Array.from({ length: itemsPerPage }, (_, index) => ({
      hash: `0x${(page * itemsPerPage + index).toString(16).padStart(64, '0')}`,
    }));
    const next_page_params = { page_size: 50, page_token: `${next(page)},0x` };
    return { body: { items, next_page_params } };
  });
  return { url, requests: () => requests };
}

/** Copies such a list; what became of it. */
async function copy(database: TestDatabase, url: string) {
  const { pool, query } = database;
  const run = { url, chains: [plainChain], operations: ['user-operations'] };
  const results = await runSync(database, run);
  const count = async (table: string) =>
    Number((await query(`select count(*) from ${table}`))[0].count);
  return {
    results: results.map(({ state, failure, reason }) => ({ state, failure, reason })),
    walks: await query('select state, failure, reason from etl.walks'),
    pages: await count('etl.pages'),
    rows: await count('explorer.user_operations'),
    faults: await ledgerFaults(pool, 'under-way'),
    retried: await count('pgboss.job where retry_count > 0'),
  };
}

/** What is left of a walk that leads into a circle of so many pages. */
const looped = (length: number) => {
  const loop = { state: 'failed', failure: 'cursor-loop', reason: 'cursor loop' };
  const read = { pages: length + 1, rows: 2 * (length + 1) };
  return { results: [loop], walks: [loop], ...read, faults: {}, retried: 0 };
};

/** 0 leads into the circle 1, 2, … length, 1. */
const serveCircle = (length: number) => serveList(2, (page) => (page === length ? 1 : page + 1));

test.each([
  ['at once', 1],
  ['after three pages', 3],
  ['after many pages', 120],
])('a list that starts over %s ends the walk as a loop, and its rows stay', async (_, length) => {
  const list = await serveCircle(length);

  const copied = await copy(await freshDatabase(), list.url);

  expect(copied).toEqual(looped(length));
  expect(list.requests()).toBe(length + 1);
});

test('a walk that began at a cursor and comes back to it ends as a loop', async () => {
  const list = await serveCircle(3);
  const database = await freshDatabase();
  const engine = await openContender(database, { url: list.url, chains: [plainChain] });
  const run = await beginRun(engine, lane, {});
  const walk = await claim(engine, run);
  if (walk === null) throw new Error('the run has no walk');

  const outcome = await walkOn(engine, { ...walk, cursor: { page_token: '1,0x' } }, 10);

  const loop = { is: 'failed', failure: 'cursor-loop', reason: 'cursor loop' };
  expect(outcome).toEqual({ is: 'ended', end: loop });
});

test('a loop whose pages all wait for one transaction also ends the walk', async () => {
  const length = 3;
  const list = await serveCircle(length);
  const database = await freshDatabase();
  const open = await holdCommits(database);
  const copying = copy(database, list.url);
  // The first page's transaction waits for the gate, and the whole circle behind it in the queue.
  await eventually('the circle to be read', async () => list.requests() === 1 + length);

  await open();

  expect(await copying).toEqual(looped(length));
});

test('a loop back to a page of an earlier slice discards what was read beyond it', async () => {
  const list = await serveCircle(5);
  const database = await freshDatabase();
  const engine = await openContender(database, { url: list.url, chains: [plainChain] });
  const run = await beginRun(engine, lane, {});
  const walkFor = async (pages: number) => {
    const walk = await claim(engine, run);
    if (walk === null) throw new Error('the run has no walk');
    return walkOn(engine, walk, pages);
  };
  await walkFor(2);
  const open = await holdCommits(database);
  const walking = walkFor(10);
  // Page 2 waits for the gate; behind it 3, 4, 5, which leads to the stored 1, and 1 itself.
  await eventually('the circle to be read', async () => list.requests() === 2 + 5);

  await open();

  expect(await walking).toEqual({
    is: 'ended',
    end: { is: 'failed', failure: 'cursor-loop', reason: 'cursor loop' },
  });
  expect(await database.query('select from etl.pages')).toHaveLength(6);
  expect(await ledgerFaults(database.pool, 'under-way')).toEqual({});
});

test('a cursor that repeats itself costs no further request', async () => {
  const list = await serveList(2, () => 1);

  await copy(await freshDatabase(), list.url);

  expect(list.requests()).toBe(2);
});

test('endless empty pages end the walk at a limit', async () => {
  const list = await serveList(0, (page) => page + 1);

  const copied = await copy(await freshDatabase(), list.url);

  const end = {
    state: 'failed',
    failure: null,
    reason: `${emptyPagesLimit} empty pages in a row`,
  };
  expect(copied).toEqual({
    results: [end],
    walks: [end],
    pages: emptyPagesLimit,
    rows: 0,
    faults: {},
    retried: 0,
  });
  // The first one is requested twice from above all heights.
  expect(list.requests()).toBe(emptyPagesLimit + 2);
});

test('empty pages that others separate are not in a row', async () => {
  const url = await answered(({ searchParams }) => {
    const page = Number(searchParams.get('page_token')?.split(',')[0] ?? 0);
    const items = page === 1 ? [] : [{ hash: `0x${String(page).padStart(64, '0')}` }];
    const next = page === 2 ? null : { page_size: 50, page_token: `${page + 1},0x` };
    return { body: { items, next_page_params: next } };
  });
  const engine = await openContender(await freshDatabase(), { url, chains: [plainChain] });
  const walk = await claim(engine, await beginRun(engine, lane, {}));
  if (walk === null) throw new Error('the run has no walk');

  const outcome = await walkOn(engine, { ...walk, empty_run: emptyPagesLimit - 1 }, 10);

  expect(outcome).toEqual({ is: 'ended', end: { is: 'end' } });
});
