import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextOfPolls, nextProbe } from '../../src/lists/numbered/probes.ts';

/** Searches a numbering in which `exists` says what has blocks. */
function search(from: number, exists: (number: number) => boolean, limit = 1000) {
  const misses = new Set<number>();
  let hit: number | null = null;
  for (let requests = 0; requests < limit; requests += 1) {
    const number = nextProbe({ from, hit, misses });
    if (number === null) return { found: hit, requests };
    if (exists(number)) hit = Math.max(hit ?? number, number);
    else misses.add(number);
  }
  throw new Error('the search does not end');
}

/** Gaps by a multiplicative hash, so that a number's fate depends on nothing else. */
const isGap = (number: number, seed: number, percent: number) =>
  ((Math.imul(number ^ seed, 2_654_435_761) >>> 7) % 10_000) / 100 < percent;

test('among 400,000 batches with 3 % gaps the latest batch is found in under 80 requests', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const newest = 400_000 - seed * 7;
    const exists = (number: number) =>
      number === newest || (number < newest && !isGap(number, seed, 3));
    const { found, requests } = search(1, exists);
    expect(found).toBe(newest);
    expect(requests).toBeLessThan(80);
  }
});

test('a numbering without gaps is searched to its newest number from any first one', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(100_000), (from, length) => {
      const newest = from + length;
      expect(search(from, (number) => number <= newest).found).toBe(newest);
    }),
  );
});

test('an empty numbering has no latest batch', () => {
  expect(search(1, () => false).found).toBeNull();
});

test('single gaps right below the newest number do not hide it', () => {
  const exists = (number: number) => number <= 1000 && number % 3 !== 0;
  expect(search(1, exists).found).toBe(1000);
});

/** Where so many polls in a row go, after those that have probed some numbers. */
function polls(count: number, before: Readonly<Record<number, number>> = {}): number[] {
  const probed = new Map(Object.entries(before).map(([number, run]) => [Number(number), run]));
  return Array.from({ length: count }, (_, at) => {
    const number = nextOfPolls(10, probed);
    probed.set(number, 100 + at);
    return number - 10;
  });
}

test('polls go to the next number and, in turn, to the ones behind it', () => {
  expect(polls(8)).toEqual([1, 2, 1, 3, 1, 4, 1, 5]);
  // All of them, and again from the nearest on.
  expect(polls(28).filter((_, at) => at % 2 === 1)).toEqual([
    2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512, 2,
  ]);
});

test('polls leave out no number because runs before them went to others', () => {
  expect(polls(6, { 13: 1, 14: 1, 15: 1 })).toEqual([1, 2, 1, 6, 1, 7]);
  expect(polls(4, { 11: 2 })).toEqual([2, 1, 3, 1]);
});
