import { describe, expect, test } from 'vitest';
import { type Motion, type SimulatedChain, startInstantMs } from '../../../simulator/index.ts';
import type { Occasion } from '../../../src/lists/list.ts';
import { configuredLanes } from '../../../src/sync/targets.ts';
import { openCopy } from '../../harness/copy.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openRunner } from '../../harness/runner.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';
import { watchedDifferences } from '../../harness/tables.ts';

const minuteMs = 60_000;
const operations = ['optimism-batch-blocks'] as const;

/** Batches of 60 blocks, one in ten minutes. */
const chainWith = (motion: Partial<Motion>): SimulatedChain => ({
  ...plainChain,
  batches: { first: 1, count: 6, blocks: 60 },
  gapsPercent: 10,
  motion: { operationsPerMinute: 1, blockSeconds: 10, ...motion },
});

/** A chain that moves, and what is done beside it at simulated times. */
async function movingWorld(seed: number, chain: SimulatedChain) {
  const { simulator, database, clock, query, open } = await openCopy(chain, { seed });
  const settings = settingsFor({ url: simulator.url, chains: [chain], operations });
  const runner = await openRunner(database, settings);
  const targets = configuredLanes(settings.chains);
  const pollAt = async (atMs: number, occasion: Occasion) => {
    clock.nowMs = atMs;
    const ended = await runner.run(targets, new Date(startInstantMs + atMs), occasion);
    expect(ended).toEqual(ended.map(() => 'finished'));
  };
  const faultsAt = async (atMs: number) => ({
    ...(await watchedDifferences(database.pool, { seed, chain, scope: { operations } }, atMs)),
    ...(await ledgerFaults(database.pool, 'ended')),
  });
  return { pollAt, faultsAt, query, open };
}

describe.each([11, 13])('with seed %i, batches that fill, move, vanish and are reused', (seed) => {
  test.each([
    ['each sync', 'sync'],
    ['runs of a schedule', 'schedule'],
  ] as const)('are followed row for row by %s', async (_name, occasion) => {
    const chain = chainWith({ oddBatchesPercent: 50, reorgsPerDay: 200 });
    const { pollAt, faultsAt, query, open } = await movingWorld(seed, chain);
    const lastMs = 180 * minuteMs;
    await pollAt(0, 'sync');
    for (let atMs = 0; atMs < lastMs; atMs += 5 * minuteMs) await pollAt(atMs, occasion);

    // So many polls reach past three gaps in a row above the latest batch.
    for (let poll = 0; poll < 6; poll += 1) await pollAt(lastMs, 'sync');

    expect(await faultsAt(lastMs)).toEqual({});
    expect(await query('select from explorer.block_reorgs')).not.toEqual([]);
    expect(await open()).toEqual([]);
  });
});
