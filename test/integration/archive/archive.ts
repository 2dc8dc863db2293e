import { replayArchive, type Replayed, type ReplayFilter } from '../../../src/replay/replay.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { openCopy, type SyncRun } from '../../harness/sync.ts';
import type { OpenDatabase } from '../../harness/database.ts';

export const minuteMs = 60_000;

/** How a chain moves whose syncs, minutes apart, find all that may change in a list. */
export const restless = {
  operationsPerMinute: 20,
  latePercent: 4,
  latestLateMs: 40 * minuteMs,
  orphanedPercent: 4,
  reincludedPercent: 50,
  reorgsPerDay: 200,
  oddBatchesPercent: 30,
  factoryChangeMs: 20_000,
  absentFactoriesPercent: 10,
  newFactoriesPercent: 10,
} as const;

/** A copy of a chain whose syncs archive what they read. */
export async function archivedCopy(chain: SimulatedChain) {
  const { database, simulator, syncAt } = await openCopy(chain);
  const sync = (atMs: number, run: Partial<SyncRun> = {}) =>
    syncAt(atMs, { archive: 'all', ...run });
  return { database, syncAt: sync, requests: () => simulator.requests };
}

/** Replays a database's archive. */
export const replayed = ({ db }: Pick<OpenDatabase, 'db'>, filter = all): Promise<Replayed> =>
  replayArchive(db, filter, () => undefined, new AbortController().signal);

const all: ReplayFilter = { chains: [], operations: [] };

/**
 * All rows of schema `explorer`, by table, without when they were written.
 *
 * @param without columns to leave out
 */
export async function storedRows(
  { pool }: Pick<OpenDatabase, 'pool'>,
  without: readonly string[] = [],
) {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'explorer'::regnamespace and relkind = 'r' order by relname`);
  const stored: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: unknown }>(
      `select to_jsonb(t) - $1::text[] as row from explorer.${name} as t order by 1`,
      [['updated_at', ...without]],
    );
    stored[name] = rows.map(({ row }) => row);
  }
  return stored;
}
