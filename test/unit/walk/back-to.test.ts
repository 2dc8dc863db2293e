import { expect, test } from 'vitest';
import { goesBackTo, type TimedPlace } from '../../../src/sync/order.ts';

const startMs = Date.UTC(2026, 0, 1);
const past = 0;
const future = Date.UTC(2099, 0, 1);

/** Items from a block downward, one in each, a block every 2 s. */
const items = (highest: number, count: number): TimedPlace[] =>
  Array.from({ length: count }, (_, place) => ({
    height: highest - place,
    timeMs: startMs + (highest - place) * 2_000,
  }));
const at = (block: number) => startMs + block * 2_000;

/** The same items, some of which report another time; places below 0 count from the end. */
const reporting = (places: readonly TimedPlace[], timeMs: number, ...which: readonly number[]) =>
  places.map((place, index) =>
    which.some((one) => one === index || one === index - places.length)
      ? { ...place, timeMs }
      : place,
  );

test('a page reaches back to its last item but one', () => {
  expect(goesBackTo(items(200, 50), items(150, 50))).toBe(at(102));
});

test('a page alone reaches back nowhere: the page below has to confirm it', () => {
  expect(goesBackTo([], items(150, 50))).toBeNull();
  expect(goesBackTo([], items(150, 1))).toBeNull();
  expect(goesBackTo(items(153, 3), items(150, 50))).toBeNull();
});

test('items of one block have one time', () => {
  const same = items(150, 10).map((place) => ({ ...place, height: 150, timeMs: at(150) }));

  expect(goesBackTo(same, same)).toBe(at(150));
});

test.each([1, 2, 10])('%i wrong times at the end of a page are ignored', (count) => {
  const which = Array.from({ length: count }, (_, place) => -1 - place);
  for (const wrong of [past, future]) {
    const page = reporting(items(150, 50), wrong, ...which);

    expect(goesBackTo(items(200, 50), page)).toBe(at(102 + count));
  }
});

test('a page whose times are all wrong has no time, nor has the one after it', () => {
  const page = items(150, 50).map((place) => ({ ...place, timeMs: past }));

  expect(goesBackTo(items(200, 50), page)).toBeNull();
  expect(goesBackTo([], page)).toBeNull();
  expect(goesBackTo(page, reporting(items(100, 50), past, -2, -1))).toBeNull();
});

test('if half of the times are inconsistent, a page reaches back to the middle of the page above', () => {
  const hourMs = 3_600_000;
  const [upper, lower] = [items(200, 50), items(150, 50)].map((places) =>
    places.map((place, index) => ({
      ...place,
      timeMs: place.timeMs - (index % 2) * index * hourMs,
    })),
  );

  expect(goesBackTo([], lower ?? [])).toBeNull();
  expect(goesBackTo(upper ?? [], lower ?? [])).toBe(at(152));
});

test('items whose blocks come in bursts reach back as far as others', () => {
  // Five blocks at once, then ten minutes without one.
  const bursts = (places: readonly TimedPlace[]) =>
    places.map((place) => ({ ...place, timeMs: startMs + Math.floor(place.height / 5) * 600_000 }));
  const [upper, lower] = [bursts(items(200, 50)), bursts(items(150, 50))];

  expect(goesBackTo(upper, lower)).toBeLessThanOrEqual(startMs + 35 * 600_000);
});

test('a month without blocks is confirmed by the next page', () => {
  const monthMs = 30 * 86_400_000;
  const older = (places: readonly TimedPlace[]) =>
    places.map((place) => ({ ...place, timeMs: place.timeMs - monthMs }));
  const page = [...items(150, 30), ...older(items(120, 20))];

  expect(goesBackTo(items(200, 50), page)).toBe(at(122));
  expect(goesBackTo(page, older(items(100, 50)))).toBe(at(52) - monthMs);
});
