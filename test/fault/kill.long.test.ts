import { expect, test } from 'vitest';
import { killSyncs, killWorkers, seedOr } from './kills.ts';

/** Of two generations and families; `KILL_SEED` repeats one. */
const seeds = [...new Set([seedOr(1), seedOr(5)])];

test.each(seeds)('a sync that is killed again and again copies all (seed %i)', async (seed) => {
  expect(await killSyncs(seed)).toEqual({});
});

test.each(seeds)('workers that are killed again and again copy all (seed %i)', async (seed) => {
  expect(await killWorkers(seed)).toEqual({});
});
