import { describe, expect, test } from 'vitest';
import { startInstantMs } from '../../../simulator/index.ts';
import { truthAt } from '../../truth/truth.ts';
import { hourMs, livelyChain, livelyMotion, minuteMs, seed, startMoving } from './moving.ts';
import { get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const onlyOperations = { operations: ['user-operations'] } as const;
const times = [0, 90_000, 47 * minuteMs, 5 * hourMs];

const rowsAt = (atMs: number, chain = livelyChain) =>
  truthAt(seed, chain, onlyOperations, atMs).user_operations;
const listedAt = (atMs: number) => rowsAt(atMs).filter((row) => row['removed_at'] === null);
const hashesOf = (rows: readonly Json[]) => rows.map((row) => row['hash']);
const byHash = (rows: readonly Json[]) => new Map(rows.map((row) => [row['hash'], row]));

describe.each(times)('at %i ms the list of user operations', (atMs) => {
  test.each([1, 7, 50])('is exact in pages of %i', async (size) => {
    const { base, clock } = await startMoving();
    clock.nowMs = atMs;
    const pages = await walk(base, paths.operations, { page_size: String(size) });
    const expected = listedAt(atMs);
    expect(
      itemsOf(pages).map((item) => [
        item['hash'],
        Number(item['block_number']),
        item['transaction_hash'],
        item['fee'],
        item['status'],
        item['timestamp'] ? new Date(item['timestamp'] as string).toISOString() : null,
      ]),
    ).toEqual(
      expected.map((row) => [
        row['hash'],
        row['block_number'],
        row['transaction_hash'],
        row['fee'],
        row['status'],
        row['timestamp'],
      ]),
    );
    expect(pages).toHaveLength(Math.ceil(expected.length / size));
  });
});

test('the list descends by block number, then by hash, with ties', async () => {
  const { base, clock } = await startMoving();
  clock.nowMs = 5 * hourMs;
  const items = itemsOf(await walk(base, paths.operations));
  const keys = items.map((item) => `${String(item['block_number'])},${String(item['hash'])}`);
  expect(keys).toEqual([...keys].sort().toReversed());
  expect(new Set(items.map((item) => item['block_number'])).size).toBeLessThan(items.length);
});

test('the history is about as long as asked for, and the head grows at its rate', () => {
  const chain = { ...smallChain, motion: { operationsPerMinute: 5 }, userOperations: 1000 };
  const start = rowsAt(0, chain).length;
  expect(start).toBeGreaterThan(990);
  expect(start).toBeLessThan(1010);
  const grown = rowsAt(10 * hourMs, chain).length - start;
  expect(grown).toBeGreaterThan(2980);
  expect(grown).toBeLessThan(3020);
});

test('nothing is dated after the clock, nor the newest long before', () => {
  const newest = rowsAt(5 * hourMs).map((row) => Date.parse(String(row['timestamp'])));
  const last = Math.max(...newest.filter((instant) => !Number.isNaN(instant)));
  const nowMs = startInstantMs + 5 * hourMs;
  expect(last).toBeLessThanOrEqual(nowMs);
  expect(last).toBeGreaterThan(nowMs - 10 * minuteMs);
});

test('late operations appear behind the head, up to the latest', () => {
  const chain = { ...livelyChain, userOperations: 0 };
  const depths: number[] = [];
  let before = new Set<unknown>();
  for (let atMs = 2 * minuteMs; atMs < 4 * hourMs; atMs += 2 * minuteMs) {
    const rows = rowsAt(atMs, chain);
    for (const row of rows) {
      const instant = row['timestamp'];
      if (before.has(row['hash']) || typeof instant !== 'string') continue;
      depths.push(startInstantMs + atMs - Date.parse(instant));
    }
    before = new Set(hashesOf(rows));
  }
  expect(depths.some((depth) => depth > hourMs)).toBe(true);
  expect(Math.max(...depths)).toBeLessThan(2 * hourMs + 3 * minuteMs);
  expect(depths.filter((depth) => depth > 3 * minuteMs).length / depths.length).toBeCloseTo(
    0.08,
    1,
  );
});

describe('orphaned operations', () => {
  test('leave the list and are kept as removed', async () => {
    const { base, clock } = await startMoving();
    clock.nowMs = 3 * hourMs;
    const before = new Set(hashesOf(itemsOf(await walk(base, paths.operations))));
    clock.nowMs = 4 * hourMs;
    const after = new Set(hashesOf(itemsOf(await walk(base, paths.operations))));
    const gone = [...before].filter((hash) => !after.has(hash));
    const removed = byHash(rowsAt(4 * hourMs));
    expect(gone.length).toBeGreaterThan(2);
    expect(gone.every((hash) => removed.get(hash)?.['removed_at'] !== null)).toBe(true);
  });

  test('are as many as asked for, and half of them return', () => {
    const chain = { ...livelyChain, userOperations: 0 };
    const early = new Set(hashesOf(rowsAt(9 * hourMs, chain)));
    const later = rowsAt(10 * hourMs, chain).filter((row) => early.has(row['hash']));
    const first = byHash(
      rowsAt(10 * hourMs, {
        ...chain,
        motion: { ...livelyMotion, orphanedAfterMs: [100 * hourMs, 101 * hourMs] },
      }),
    );
    const removed = later.filter((row) => row['removed_at'] !== null);
    const returned = later.filter(
      (row) => row['transaction_hash'] !== first.get(row['hash'])?.['transaction_hash'],
    );
    expect(removed.length / later.length).toBeCloseTo(0.1, 1);
    expect(returned.length / later.length).toBeCloseTo(0.1, 1);
  });

  test('return in a higher block near the head, in another transaction', () => {
    const chain = { ...livelyChain, userOperations: 50 };
    const moved = [];
    let before = byHash(rowsAt(0, chain));
    for (let atMs = minuteMs; atMs < 2 * hourMs; atMs += minuteMs) {
      const after = byHash(rowsAt(atMs, chain));
      const head = Math.max(...[...after.values()].map((row) => Number(row['block_number'])));
      for (const [hash, row] of after) {
        const old = before.get(hash);
        if (old === undefined || old['block_number'] === row['block_number']) continue;
        moved.push(row);
        expect(Number(row['block_number'])).toBeGreaterThan(Number(old['block_number']));
        // Six blocks a minute, and the newest operation may be some blocks old.
        expect(Number(row['block_number'])).toBeGreaterThan(head - 12);
        expect(row['transaction_hash']).not.toBe(old['transaction_hash']);
        expect(row['address_hash']).toBe(old['address_hash']);
      }
      before = after;
    }
    expect(moved.length).toBeGreaterThan(10);
  });

  test('that left before anyone watched are not in the truth', () => {
    const chain = {
      ...livelyChain,
      motion: { ...livelyMotion, orphanedPercent: 100, latePercent: 0, reincludedPercent: 0 },
    };
    expect(rowsAt(0, chain).every((row) => row['removed_at'] === null)).toBe(true);
    expect(rowsAt(0, chain).length).toBeLessThan(100);
  });
});

describe('a walk while all moves', () => {
  test('repeats no cursor, no item that stays, and misses none', async () => {
    const { base } = await startMoving(livelyChain, { clock: tickingClock(hourMs, 30_000) });
    const pages = await walk(base, paths.operations, { page_size: '5' });
    const served = hashesOf(itemsOf(pages));
    // `walk` itself fails at a repeated cursor.
    expect(new Set(served).size).toBe(served.length);
    const [start, end] = [listedAt(hourMs), byHash(listedAt(hourMs + pages.length * 30_000))];
    const stayed = start.filter(
      (row) => end.get(row['hash'])?.['block_number'] === row['block_number'],
    );
    expect(stayed.length).toBeGreaterThan(200);
    expect(stayed.filter((row) => !served.includes(row['hash']))).toEqual([]);
  });

  test('goes on where the item of its token has left', async () => {
    const { base, clock } = await startMoving();
    const [before, after] = [listedAt(hourMs), new Set(hashesOf(listedAt(2 * hourMs)))];
    const place = before.findIndex((row) => !after.has(row['hash']));
    const token = `${String(before[place]?.['block_number'])},${String(before[place]?.['hash'])}`;
    clock.nowMs = 2 * hourMs;
    const query = { apikey: 'simulated-key', page_token: token, page_size: '1' };
    const { body } = await get(base, paths.operations, query);
    const below = listedAt(2 * hourMs).find(
      (row) => `${String(row['block_number'])},${String(row['hash'])}` < token,
    );
    expect(place).toBeGreaterThanOrEqual(0);
    expect((body['items'] as Json[])[0]?.['hash']).toBe(below?.['hash']);
  });
});

test('every oddity leaves a moving list complete', async () => {
  const chain = {
    ...livelyChain,
    oddities: ['duplicates-in-page', 'duplicates-across-pages', 'empty-page-with-cursor'] as const,
  };
  const { base, clock } = await startMoving(chain);
  clock.nowMs = 5 * hourMs;
  const pages = await walk(base, paths.operations, { page_size: '5' });
  const served = hashesOf(itemsOf(pages));
  const repeats = pages.filter(
    ({ items }, place) => items[0]?.['hash'] === pages[place - 1]?.items.at(-1)?.['hash'],
  );
  expect([...new Set(served)]).toEqual(hashesOf(listedAt(5 * hourMs)));
  expect(repeats.length).toBeGreaterThan(2);
});

test('the same seed and time serve the same bytes', async () => {
  const texts: string[] = [];
  for (const atMs of [hourMs, hourMs, hourMs + 20 * minuteMs]) {
    const { base, clock } = await startMoving();
    // What was served before must not matter.
    clock.nowMs = 7 * hourMs;
    await get(base, paths.operations, { apikey: 'simulated-key' });
    clock.nowMs = atMs;
    texts.push(JSON.stringify(await walk(base, paths.operations)));
  }
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).not.toBe(texts[2]);
});

test('jumps into the middle of a billion operations at once', async () => {
  const { base, clock } = await startMoving({ ...livelyChain, userOperations: 1_000_000_000 });
  clock.nowMs = hourMs;
  const query = { apikey: 'simulated-key', page_token: `700000000,0x${'f'.repeat(64)}` };
  // A scan from either end would take minutes, which the test is not given.
  const { body } = await get(base, paths.operations, query);
  expect(body['items']).toHaveLength(50);
});

/** A clock that moves on with every reading. */
function tickingClock(startMs: number, stepMs: number): () => number {
  let nowMs = startMs - stepMs;
  return () => (nowMs += stepMs);
}

test('a chain that makes no operations is refused', async () => {
  const chain = { ...livelyChain, motion: { operationsPerMinute: 0 } };
  await expect(startMoving(chain)).rejects.toThrow(RangeError);
});
