import type { Family, Generation, SimulatedChain } from '../../simulator/index.ts';

/** Simulated ms in a real one: a minute passes in a second. */
export const clockRate = 60;

/** What the key is allowed and configured for, in requests a second. */
export const requestsPerSecond = 20;
export const latencyMs = 20;
const pageSize = 10;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How soon an operation may leave the list again: far longer than a poll of its head takes. */
const soonestOrphanedMs = hourMs;
/** How far the world may be ahead of whoever looks at it, so that he sees what leaves again. */
export const leashMs = soonestOrphanedMs / 2;

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v12', 'v11', 'v10'];

/** Below it a run is short: no more history than is read in seconds, and no answers of minutes, in ms. */
export const longFromMs = 60_000;
const history = { short: { operations: 250, batches: 4 }, long: { operations: 900, batches: 8 } };

/** Half of what the key may ask for is needed to follow all that moves; what is left is for failures. */
export const chainOf = (
  seed: number,
  lengthMs: number,
  { operations, batches } = lengthMs < longFromMs ? history.short : history.long,
): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: families[(seed - 1) % families.length] ?? 'optimism',
  generation: generations[(seed - 1) % generations.length] ?? 'v12',
  userOperations: operations,
  batches: { first: 1, count: batches, blocks: 30 },
  gapsPercent: 3,
  factories: 60,
  oddities: ['duplicates-across-pages', 'empty-page-with-cursor'],
  motion: {
    operationsPerMinute: 15,
    blockSeconds: 12,
    latePercent: 3,
    latestLateMs: 3 * hourMs,
    orphanedPercent: 2,
    orphanedAfterMs: [soonestOrphanedMs, 3 * hourMs],
    reorgsPerDay: 288,
    pendingMs: 10 * minuteMs,
    oddBatchesPercent: 10,
    factoryChangeMs: 2 * hourMs,
    absentFactoriesPercent: 10,
    newFactoriesPercent: 10,
  },
});

/** Never by itself: the kit plays the part of the cron, by the clock of its world. */
const schedule = '0 0 1 1 *';

export const configOf = ({ id, name }: SimulatedChain) => ({
  explorer: { requests_per_second: requestsPerSecond, page_size: pageSize },
  chains: [
    {
      id,
      name,
      operations: {
        'user-operations': {
          schedule,
          overlap: '2m',
          resweep: [
            { depth: '20m', every: '20m' },
            { depth: '2h', every: '2h' },
            { depth: '6h', every: '6h' },
          ],
        },
        'optimism-batch-blocks': { schedule },
        factories: { schedule },
      },
    },
  ],
});
