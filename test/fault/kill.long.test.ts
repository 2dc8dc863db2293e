import { expect, test } from 'vitest';
import { killSyncs, killWorkers, seedOr } from './kills.ts';

/** Of another generation and family than the seed of kill.test.ts. */
const seed = seedOr(5);

test('a sync that is killed again and again copies all', async () => {
  expect(await killSyncs(seed)).toEqual({});
});

test('workers that are killed again and again copy all', async () => {
  expect(await killWorkers(seed)).toEqual({});
});
