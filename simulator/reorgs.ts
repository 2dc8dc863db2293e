import type { World } from './chain.ts';
import { headAt, minedAtMs, type Course } from './motion.ts';
import { Random } from './random.ts';

/** A reorganisation: at its time the heights of its range get other hashes. */
export interface Reorg {
  readonly atMs: number;
  readonly lowest: number;
  readonly highest: number;
}

/** How deep one reaches at most, blocks. */
const deepest = 10;

const dayMs = 24 * 60 * 60_000;

/** All reorganisations of a span of time, both ends included, oldest first. */
export function reorgsBetween(
  world: World,
  course: Course,
  fromMs: number,
  toMs: number,
): readonly Reorg[] {
  if (course.reorgsPerDay <= 0) return [];
  const everyMs = dayMs / course.reorgsPerDay;
  const first = Math.max(0, Math.floor(fromMs / everyMs));
  const last = Math.floor(toMs / everyMs);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) =>
    reorgAt(world, course, first + place, everyMs),
  ).filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

function reorgAt(world: World, course: Course, index: number, everyMs: number): Reorg {
  const random = new Random(world.streams.reorg, index);
  const atMs = Math.floor(everyMs * (index + random.below(1000) / 1000));
  const highest = headAt(course, atMs);
  return { atMs, lowest: highest - random.below(deepest), highest };
}

/** The reorganisations until a time that replaced the block at a height, oldest first. */
export function reorgsOf(
  world: World,
  course: Course,
  height: number,
  atMs: number,
): readonly Reorg[] {
  const minedMs = minedAtMs(course, height);
  // One block later the head is one higher, and `deepest` blocks later out of reach.
  const untilMs = Math.min(atMs, minedMs + deepest * course.blockMs);
  return reorgsBetween(world, course, minedMs, untilMs).filter(
    ({ lowest, highest }) => height >= lowest && height <= highest,
  );
}
