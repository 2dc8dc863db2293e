import type { World } from './chain.ts';
import type { Course } from './motion.ts';
import { editionOf, Random } from './random.ts';

/** How far a count rises above its least at most: three rungs, so about nine places up and down. */
export const countSpread = 90;

const hourMs = 60 * 60_000;
/** A factory that is absent at times is so for the last 12 hours of each 48. */
const absentCycleMs = 48 * hourMs;
const absentForMs = 12 * hourMs;
/** New factories enter within a week: the length of a long test. */
const entersWithinMs = 7 * 24 * hourMs;

/** Whether a factory is listed at a time, and since when it is missing if it was listed before. */
export type FactoryState =
  { readonly kind: 'listed' | 'unseen' } | { readonly kind: 'missing'; readonly sinceMs: number };

/** The state of a factory at a time, to one who has watched from time 0 on. */
export function factoryStateAt(
  world: World,
  course: Course,
  ordinal: number,
  atMs: number,
): FactoryState {
  const random = new Random(world.streams['factory-life'], ordinal);
  const fate = random.below(100_000) / 1000;
  if (fate < course.newFactoriesPercent) {
    return { kind: atMs < 1 + random.below(entersWithinMs) ? 'unseen' : 'listed' };
  }
  if (fate >= course.newFactoriesPercent + course.absentFactoriesPercent) return { kind: 'listed' };
  const inCycleMs = (atMs + random.below(absentCycleMs)) % absentCycleMs;
  const missingForMs = inCycleMs - (absentCycleMs - absentForMs);
  if (missingForMs < 0) return { kind: 'listed' };
  const sinceMs = atMs - missingForMs;
  return sinceMs > 0 ? { kind: 'missing', sinceMs } : { kind: 'unseen' };
}

/** By how much the count of a factory exceeds its least at a time; 0 if counts rest. */
export function countRise(world: World, course: Course, ordinal: number, atMs: number): number {
  const { factoryChangeMs } = course;
  if (factoryChangeMs === Infinity) return 0;
  const stream = world.streams['factory-life'];
  // Each factory changes at its own moments, so that a walk sees single rows move.
  const phaseMs = new Random(editionOf(stream, 1), ordinal).below(factoryChangeMs);
  const period = Math.floor((atMs + phaseMs) / factoryChangeMs);
  return new Random(editionOf(stream, period + 2), ordinal).below(countSpread + 1);
}
