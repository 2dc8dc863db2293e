import type { World } from './chain.ts';
import { itemsPerRung, rungOf, startOf } from './ladder.ts';
import type { Course } from './motion.ts';
import { Random } from './random.ts';

/**
 * Which operations are first made in which block: rung after rung of the ladder, evenly spread with
 * some jitter, so that both directions are known at once and blocks hold ties.
 */
function rungsPerBlock(course: Course): number {
  return (course.operationsPerMinute * course.blockMs) / 60_000 / itemsPerRung;
}

/** The ordinal of the first operation that is made in a block or above it. */
export function firstOrdinalOf(world: World, course: Course, height: number): number {
  return startOf(rungsBefore(world, course, height - course.operationsFloor));
}

/** The height where an operation is first made. */
export function heightOfOrdinal(world: World, course: Course, ordinal: number): number {
  const rung = rungOf(ordinal);
  let place = Math.ceil((rung + 1) / rungsPerBlock(course)) + 1;
  // At most four steps: the jitter is below one block.
  while (rungsBefore(world, course, place) > rung) place -= 1;
  return course.operationsFloor + place;
}

function rungsBefore(world: World, course: Course, place: number): number {
  if (place <= 0) return 0;
  const jitter = new Random(world.streams['user-operation-rung'], place).below(1000) / 1000;
  return Math.floor(rungsPerBlock(course) * (place + jitter));
}
