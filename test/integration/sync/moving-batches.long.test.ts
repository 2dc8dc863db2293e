import { describe, expect, test } from 'vitest';
import { type Motion, type SimulatedChain, startInstantMs } from '../../../simulator/index.ts';
import type { Occasion } from '../../../src/lists/list.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { configuredLanes } from '../../../src/sync/targets.ts';
import { simulated } from '../../harness/explorer.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openInWords } from '../../harness/findings.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openRunner } from '../../harness/runner.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';
import { differencesFrom } from '../../harness/tables.ts';
import { truthAt } from '../../harness/truth/truth.ts';

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
  let nowMs = 0;
  const simulator = await simulated({ seed, chains: [chain], clock: () => nowMs });
  const database = await freshDatabase();
  const settings = settingsFor({ url: simulator.url, chains: [chain], operations });
  const runner = await openRunner(database, settings);
  const targets = configuredLanes(settings.chains);
  const pollAt = async (atMs: number, occasion: Occasion) => {
    nowMs = atMs;
    const ended = await runner.run(targets, new Date(startInstantMs + atMs), occasion);
    expect(ended).toEqual(ended.map(() => 'finished'));
  };
  const tablesAt = async (atMs: number) => {
    const { block_reorgs: told, ...truth } = truthAt(seed, chain, { operations }, atMs);
    const { rows: seen } = await database.pool.query<{ told: string }>(
      `select concat_ws(',', height, old_hash, new_hash) as told from explorer.block_reorgs`,
    );
    const all = new Set(
      told.map((row) => [row['height'], row['old_hash'], row['new_hash']].join(',')),
    );
    return {
      differences: await differencesFrom(database.pool, chain, truth),
      untrueReorgs: seen.filter((row) => !all.has(row.told)),
      reorgs: seen.length,
    };
  };
  const findings = async () => openInWords(await verifyFeeds(runner.db));
  return { database, pollAt, tablesAt, findings };
}

describe.each([11, 13])('with seed %i, batches that fill, move, vanish and are reused', (seed) => {
  test.each([
    ['each sync', 'sync'],
    ['runs of a schedule', 'schedule'],
  ] as const)('are followed row for row by %s', async (_name, occasion) => {
    const chain = chainWith({ oddBatchesPercent: 50, reorgsPerDay: 200 });
    const { database, pollAt, tablesAt, findings } = await movingWorld(seed, chain);
    const lastMs = 180 * minuteMs;
    await pollAt(0, 'sync');
    for (let atMs = 0; atMs < lastMs; atMs += 5 * minuteMs) await pollAt(atMs, occasion);

    // So many polls reach past three gaps in a row above the latest batch.
    for (let poll = 0; poll < 6; poll += 1) await pollAt(lastMs, 'sync');

    const { differences, untrueReorgs, reorgs } = await tablesAt(lastMs);
    expect(differences).toEqual({});
    expect(untrueReorgs).toEqual([]);
    expect(reorgs).toBeGreaterThan(0);
    expect(await findings()).toEqual([]);
    expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
  });
});
