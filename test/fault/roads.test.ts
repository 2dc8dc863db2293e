import { expect, inject, test } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { compareRoads, describeDivergence, roadsNamed } from './roads/road.ts';

const isLong = inject('isLong');
/**
 * More histories, others, or one road. Not 310: there a run gives up on one walk, and whether its other one had a turn before
 * depends on the load where slices have one page.
 */
const { ROADS: histories = isLong ? '8' : '1', ROAD_SEED: first = '311' } = process.env;
const { ROAD: name = isLong ? '' : 'resumed after each page' } = process.env;

test('the same pages lead to the same rows, coverage and findings, whatever road they take', async () => {
  const seeds = Array.from({ length: Number(histories) }, (_, index) => Number(first) + index);

  const { divergences, falsePages } = await compareRoads(
    await freshDatabase(),
    seeds,
    roadsNamed(name),
  );

  process.stderr.write(`${seeds.length} histories, ${falsePages} false pages\n`);
  expect(falsePages).toBeGreaterThan(seeds.length);
  expect(divergences.map(describeDivergence).join('\n')).toBe('');
});
