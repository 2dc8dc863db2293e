import { expect, test } from 'vitest';
import { killSyncs, killWorkers, seedOr } from './kills.ts';

// Two seeds are two generations and families; `KILL_SEED` repeats one.

test('a sync that is killed again and again copies all', async () => {
  expect(await killSyncs(seedOr(1))).toEqual({});
});

test('workers that are killed again and again copy all', async () => {
  expect(await killWorkers(seedOr(5))).toEqual({});
});
