import { firstHeight, type Generation, type World } from './chain.ts';
import { blockTimeMs, minedAt } from './timetable.ts';

/**
 * When the lowest height was mined, milliseconds since 1970; on a chain that moves, the start of
 * the simulated clock. A chain may have its own (`startsAtMs`).
 */
export const startInstantMs = Date.UTC(2026, 9, 1);

/**
 * When a height was mined, milliseconds since 1970; whole seconds in v10, which prints no decimals.
 * On a chain that moves it lies in the block time before the height appears, never in the future; on
 * one with a calendar it is the block's own time, in whole seconds as on real chains.
 */
export function instantOf(world: World, height: number, fractionMs: number): number {
  const { course, lived } = world;
  if (lived !== null) return minedAt(lived.timetable, height);
  const blockMs = course?.blockMs ?? blockTimeMs;
  const origin = course === null ? firstHeight : course.headAtStart + 1;
  const instantMs = (world.chain.startsAtMs ?? startInstantMs) + (height - origin) * blockMs;
  if (world.chain.generation === 'v10') return Math.floor(instantMs / 1000) * 1000;
  return instantMs + (fractionMs % blockMs);
}

/** An instant as the service prints it: ISO 8601 UTC with six decimals, or none in v10. */
export function printInstant(generation: Generation, instantMs: number): string {
  const printed = new Date(instantMs).toISOString();
  return generation === 'v10' ? `${printed.slice(0, 19)}Z` : `${printed.slice(0, 23)}000Z`;
}

/** An instant as rows hold it; null for none. */
export function isoOf(instantMs: number | null): string | null {
  return instantMs === null ? null : new Date(instantMs).toISOString();
}
