import { describe, expect, test } from 'vitest';
import type { Disorder, SimulatedChain } from '../../../simulator/index.ts';
import { truthAt } from '../../truth/truth.ts';
import { hourMs, livelyChain, seed, startMoving } from './moving.ts';
import { itemsOf, paths, smallChain, walk, type ServedPage } from './walk.ts';

const bothChains: [string, SimulatedChain][] = [
  ['resting', { ...smallChain, userOperations: 700 }],
  ['moving', livelyChain],
];

const keysOf = ({ items }: ServedPage) =>
  items.map((item) => `${String(item['block_number'])},${String(item['hash'])}`);
const isOrdered = (page: ServedPage) =>
  JSON.stringify(keysOf(page)) === JSON.stringify(keysOf(page).sort().toReversed());

async function read(chain: SimulatedChain, disorder: Disorder, atMs: number, size = 10) {
  const { base, clock } = await startMoving({ ...chain, disorder });
  clock.nowMs = atMs;
  return walk(base, paths.operations, { page_size: String(size) });
}

describe.each(bothChains)('disorder on a %s chain', (_, chain) => {
  test.each([1, 10, 50])('serves every item once, in pages of %i', async (size) => {
    const pages = await read(chain, { percent: 100 }, hourMs, size);
    const served = itemsOf(pages).map((item) => String(item['hash']));
    const listed = truthAt(seed, chain, { operations: ['user-operations'] }, hourMs)
      .user_operations.filter((row) => row['removed_at'] === null)
      .map((row) => String(row['hash']));
    expect(served).not.toEqual(listed);
    expect(served.sort()).toEqual(listed.sort());
  });

  test('shows on every page of some items, and leaves the cursors alone', async () => {
    const plain = await read(chain, { percent: 0 }, hourMs);
    const mixed = await read(chain, { percent: 100 }, hourMs);
    expect(plain.every(isOrdered)).toBe(true);
    expect(mixed.filter((page) => !isOrdered(page)).length / mixed.length).toBeGreaterThan(0.8);
    expect(mixed.map(({ next }) => next)).toEqual(plain.map(({ next }) => next));
  });

  test('moves items to neighbouring pages', async () => {
    const plain = await read(chain, { percent: 0 }, hourMs);
    const mixed = await read(chain, { percent: 100 }, hourMs);
    const foreign = mixed.filter((page, place) => {
      const own = new Set(plain[place] && keysOf(plain[place]));
      return keysOf(page).some((key) => !own.has(key));
    });
    expect(foreign.length).toBeGreaterThan(3);
  });

  test('lasts no longer than its window', async () => {
    const disorder = { percent: 100, fromMs: hourMs, untilMs: 2 * hourMs };
    const isRight = async (atMs: number) => (await read(chain, disorder, atMs)).every(isOrdered);
    expect(await isRight(hourMs - 1)).toBe(true);
    expect(await isRight(hourMs)).toBe(false);
    expect(await isRight(2 * hourMs - 1)).toBe(false);
    expect(await isRight(2 * hourMs)).toBe(true);
  });
});

test('a percentage leaves parts of the list in order', async () => {
  const chain = { ...smallChain, userOperations: 3000 };
  const pages = await read(chain, { percent: 30 }, 0, 50);
  const wrong = pages.filter((page) => !isOrdered(page)).length / pages.length;
  expect(wrong).toBeGreaterThan(0.1);
  expect(wrong).toBeLessThan(0.7);
});

test('every full page of three or more shows it', async () => {
  // Whole windows, so that every item has its partner.
  const chain = { ...smallChain, userOperations: 640 };
  const pages = await read(chain, { percent: 100 }, 0, 3);
  expect(pages.slice(0, -1).filter(isOrdered)).toEqual([]);
});
