import type { Generation, World } from './chain.ts';

/** The lowest height of every chain, and of its user operations: as long as those of OP Mainnet. */
export const firstHeight = 105_000_000;

/** When the lowest height was mined, milliseconds since 1970. */
const firstInstantMs = Date.UTC(2026, 9, 1);

/** Block time of an Optimism chain. */
const blockTimeMs = 2000;

/** When a height was mined, milliseconds since 1970; whole seconds in v10, which prints no decimals. */
export function instantOf(world: World, height: number, fractionMs: number): number {
  const instantMs = firstInstantMs + (height - firstHeight) * blockTimeMs;
  return world.chain.generation === 'v10' ? instantMs : instantMs + fractionMs;
}

/** An instant as the service prints it: ISO 8601 UTC with six decimals, or none in v10. */
export function printInstant(generation: Generation, instantMs: number): string {
  const printed = new Date(instantMs).toISOString();
  return generation === 'v10' ? `${printed.slice(0, 19)}Z` : `${printed.slice(0, 23)}000Z`;
}
