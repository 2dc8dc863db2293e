import type { World } from './chain.ts';
import { firstHeight } from './instant.ts';

/** The heights of a batch, both ends included. */
export interface HeightRange {
  readonly lowest: number;
  readonly highest: number;
}

/** How far sizes differ from the average, as parts of it; they cancel out over one period. */
function deviationsOf(average: number): readonly number[] {
  const large = Math.floor((average * 3) / 8);
  const small = Math.floor(average / 7);
  return [large, -small, 0, -large, small];
}

/** The heights of a batch, or null where there is none: a hole, a number below or above. */
export function batchRange(world: World, number: number): HeightRange | null {
  const { first, count, blocks } = world.chain.batches;
  if (number < first || number >= first + count || world.holes.includes(number)) return null;
  const index = number - first - world.holes.filter((hole) => hole < number).length;
  const lowest = firstHeight + blocksBefore(blocks, index);
  const highest = firstHeight + blocksBefore(blocks, index + 1) - 1;
  return highest < lowest ? null : { lowest, highest };
}

function blocksBefore(average: number, index: number): number {
  const deviations = deviationsOf(average);
  const rest = index % deviations.length;
  return average * index + deviations.slice(0, rest).reduce((sum, part) => sum + part, 0);
}
