import { onTestFinished } from 'vitest';
import {
  startSimulator,
  type Motion,
  type SimulatedChain,
  type SimulatorOptions,
} from '../../../simulator/index.ts';
import { smallChain } from './walk.ts';

export const seed = 21;
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Everything moves, and often, so that hours show what weeks hold. */
export const livelyMotion: Motion = {
  operationsPerMinute: 5,
  blockSeconds: 10,
  latePercent: 10,
  latestLateMs: 2 * hourMs,
  orphanedPercent: 20,
  reorgsPerDay: 400,
  oddBatchesPercent: 50,
  factoryChangeMs: 10 * minuteMs,
  absentFactoriesPercent: 20,
  newFactoriesPercent: 20,
};

/** A small chain on which everything moves. */
export const livelyChain: SimulatedChain = { ...smallChain, motion: livelyMotion };

/** A running simulator whose clock the test sets; closed when the test ends. */
export async function startMoving(
  chain: SimulatedChain = livelyChain,
  options: Partial<SimulatorOptions> = {},
) {
  const clock = { nowMs: 0 };
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    clock: () => clock.nowMs,
    ...options,
  });
  onTestFinished(() => simulator.close());
  return { simulator, clock, base: `${simulator.url}/${chain.id}/api/v2` };
}
