import { onTestFinished } from 'vitest';
import { createScratchDatabase } from '../../../src/replay/scratch.ts';
import type { RowDifference } from '../../../src/replay/compare.ts';
import { differs, replayArchive, type ReplayUse } from '../../../src/replay/replay.ts';
import {
  startInstantMs,
  startSimulator,
  type SimulatedChain,
} from '../../../src/simulator/index.ts';
import { freshDatabase, type TestDatabase } from '../../support/database.ts';
import { runSync, type SyncRun } from '../../support/sync.ts';

const seed = 17;

/**
 * A simulated explorer on a driven clock, a database, and syncs that archive.
 *
 * @param stepMs how far the clock goes on with each request
 */
export async function archivedWorld(chain: SimulatedChain, stepMs = 0) {
  let nowMs = 0;
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    clock: () => nowMs,
    onRequest: () => {
      nowMs += stepMs;
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const syncAt = async (atMs: number, run: Partial<SyncRun> = {}) => {
    nowMs = atMs;
    return runSync(database, {
      url: simulator.url,
      chains: [chain],
      archive: 'all',
      at: new Date(startInstantMs + atMs),
      ...run,
    });
  };
  return { database, syncAt, requests: () => simulator.requests };
}

/** A replay of a database's archive, and the tables that came out differently. */
export async function replayed(database: TestDatabase, use: ReplayUse = 'digests') {
  const scratch = await createScratchDatabase(database.url);
  const rows: RowDifference[] = [];
  try {
    const report = await replayArchive(
      database.pool,
      scratch,
      { use, onProgress: () => undefined, onDifference: (row) => rows.push(row) },
      new AbortController().signal,
    );
    const differing = report.tables.filter(differs).map(({ table }) => table);
    return { ...report, differing, rows: report.rows, differences: rows };
  } finally {
    await scratch.drop();
  }
}
