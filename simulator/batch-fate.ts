import { blocksBefore } from './batch-size.ts';
import type { World } from './chain.ts';
import { minedAtMs, type Course } from './motion.ts';
import { Random } from './random.ts';

/**
 * What happens to a pair of batches, an even slot and the one above, at its turning point:
 * - half-imported: the lower one shows only its lower half until then;
 * - traded: `blocks` blocks at their border go to the upper one, or, if negative, to the lower;
 * - vanished: the lower one's number becomes a hole, and its blocks go to the upper one;
 * - reused: until then the upper number held the lower one's blocks, and the lower was a hole.
 */
export interface Fate {
  readonly kind: (typeof kinds)[number];
  readonly turnsAtMs: number;
  readonly blocks: number;
}

const kinds = ['half-imported', 'traded', 'vanished', 'reused'] as const;

/** Few, as when a border was drawn wrongly. */
const mostTraded = 3;

/** The slot below the border that a fate is about. */
export function lowerSlot(slot: number): number {
  return slot - (slot % 2);
}

/** The fate of the pair that a slot belongs to, or null if nothing is odd about it. */
export function fateOf(world: World, course: Course, slot: number): Fate | null {
  const lower = lowerSlot(slot);
  const random = new Random(world.streams['batch-fate'], lower);
  // Drawn for pairs, so twice as often for half as many.
  if (random.below(100_000) >= course.oddBatchesPercent * 2000) return null;
  const top = course.batchesFloor + blocksBefore(world.chain.batches.blocks, lower + 1);
  const traded = (1 + random.below(mostTraded)) * (random.oneIn(2) ? 1 : -1);
  // While the newest blocks below the border are pending: nothing odd happens to proved batches.
  const delay = 0.2 + random.below(600) / 1000;
  return {
    kind: random.pick(kinds),
    turnsAtMs: minedAtMs(course, top) + Math.floor(course.pendingMs * delay),
    blocks: traded,
  };
}
