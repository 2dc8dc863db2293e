import { onTestFinished } from 'vitest';
import {
  demoChains,
  demoStart,
  startSimulator,
  type SimulatedChain,
} from '../../../simulator/index.ts';

export const demoSeed = 1;
export const nowMs = Date.parse('2026-11-22T11:17:23.456Z');
export const startMs = demoStart(nowMs);

/** The chains of the demo as they stand at a time, whenever it was first run. */
export const chainsAt = (atMs: number) => demoChains(startMs, atMs);

/** Where a chain is served until the test ends. */
export async function startAt(chain: SimulatedChain): Promise<string> {
  const simulator = await startSimulator({ seed: demoSeed, chains: [chain] });
  onTestFinished(() => simulator.close());
  return `${simulator.url}/${chain.id}/api/v2`;
}
