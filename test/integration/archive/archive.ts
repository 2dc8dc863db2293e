import { drizzle } from 'drizzle-orm/node-postgres';
import { replayArchive, type Replayed, type ReplayFilter } from '../../../src/replay/replay.ts';
import { startInstantMs, type SimulatedChain } from '../../../simulator/index.ts';
import { simulated } from '../../harness/explorer.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync, type SyncRun } from '../../harness/sync.ts';

const seed = 17;

/**
 * A simulated explorer on a driven clock, a database, and syncs that archive.
 *
 * @param stepMs how far the clock goes on with each request
 */
export async function archivedWorld(chain: SimulatedChain, stepMs = 0) {
  let nowMs = 0;
  const simulator = await simulated({
    seed,
    chains: [chain],
    clock: () => nowMs,
    onRequest: () => {
      nowMs += stepMs;
    },
  });
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

/** Replays a database's archive. */
export const replayed = ({ pool }: Pick<TestDatabase, 'pool'>, filter = all): Promise<Replayed> =>
  replayArchive(drizzle(pool), filter, () => undefined, new AbortController().signal);

const all: ReplayFilter = { chains: [], operations: [] };

/**
 * All rows of schema `explorer`, by table, without when they were written.
 *
 * @param without columns to leave out: which page wrote a row last depends on which shared its transaction
 */
export async function storedRows(
  { pool }: Pick<TestDatabase, 'pool'>,
  without: readonly string[] = [],
) {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'explorer'::regnamespace and relkind = 'r' order by relname`,
  );
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
