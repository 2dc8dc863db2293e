import { blocksBetween, dayMs, storyDays, type Calendar } from './calendar.ts';
import { slotAtPlace } from './places.ts';
import type { SimulatedChain } from './world.ts';

/** Blocks of a batch: one every six to seven minutes. */
const blocks = 200;
/** Batches begin half a day before the story ends: to read the blocks of all would take long. */
const batchDays = 0.5;

/** The longest list of the demo's chains. */
export const longestList = { chainId: 10, operation: 'user-operations' } as const;

/** When a demo that is first run at a time begins: at midnight (UTC), 90 days before. */
export const demoStart = (nowMs: number): number => (Math.floor(nowMs / dayMs) - storyDays) * dayMs;

/**
 * Two chains that live by the calendar, as they stand at a time: in their first 90 days about 21,000
 * user operations, and 560 factories.
 */
export function demoChains(startMs: number, nowMs: number): readonly SimulatedChain[] {
  const batchesFromMs = startMs + (storyDays - batchDays) * dayMs;
  const calendar: Calendar = { startMs, endMs: nowMs, batchesFromMs };
  const count = slotAtPlace(blocks, blocksBetween(batchesFromMs, nowMs));
  const both = { batches: { first: 1, count, blocks }, calendar };
  const optimism = { id: 10, name: 'optimism', family: 'optimism', generation: 'v12' } as const;
  const celo = { id: 42_220, name: 'celo', family: 'celo', generation: 'v11' } as const;
  return [
    { ...both, ...optimism, userOperations: 12_000, factories: 300 },
    { ...both, ...celo, userOperations: 9000, factories: 260 },
  ];
}
