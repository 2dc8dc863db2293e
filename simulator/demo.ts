import { blockTimeMs, slotAtPlace, storyDays } from './places.ts';
import type { SimulatedChain } from './world.ts';

const dayMs = 86_400_000;
/** Blocks of a batch of the demo: one every six to seven minutes. */
const demoBatchBlocks = 200;
/** Batches begin half a day before the day of the first run: to read the blocks of all would take long. */
const demoBatchesAfterMs = (storyDays - 0.5) * dayMs;

/** When a demo that is first run at a time begins: at midnight (UTC), 90 days before. */
export const demoStart = (nowMs: number): number => (Math.floor(nowMs / dayMs) - storyDays) * dayMs;

/**
 * Two chains in use, as they stand at a time: in their first 90 days about 21,000 user operations,
 * 560 factories, and 110 items of each other ranking.
 */
export function demoChains(startMs: number, nowMs: number): readonly SimulatedChain[] {
  const blocks = Math.floor((nowMs - startMs) / blockTimeMs);
  const lived = { blocks, belowBatches: demoBatchesAfterMs / blockTimeMs };
  const begun = slotAtPlace(demoBatchBlocks, blocks - lived.belowBatches);
  const batches = { first: 1, count: begun, blocks: demoBatchBlocks };
  const both = { batches, lived, startsAtMs: startMs };
  const optimism = { id: 10, name: 'optimism', family: 'optimism', generation: 'v12' } as const;
  const celo = { id: 42_220, name: 'celo', family: 'celo', generation: 'v11' } as const;
  return [
    { ...both, ...optimism, userOperations: 12_000, factories: 300, otherRankings: 60 },
    { ...both, ...celo, userOperations: 9000, factories: 260, otherRankings: 50 },
  ];
}

/** The longest list of the demo's chains. */
export const longestList = { chainId: 10, operation: 'user-operations' } as const;
