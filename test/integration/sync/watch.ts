import { onTestFinished } from 'vitest';
import { startInstantMs, startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { truthAt } from '../../truth/truth.ts';
import { freshDatabase } from '../../harness/database.ts';
import type { SyncRun } from '../../harness/sync.ts';
import { openRunner, type Runner } from '../../harness/timed-runner.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

const watchSeed = 23;

/** A chain of user operations alone. */
const operationsChain = (changes: Partial<SimulatedChain>): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 600,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
  ...changes,
});

/** A simulated list of user operations that runs follow on a driven clock, in a fresh database. */
export async function watchOperations(
  changes: Partial<SimulatedChain>,
  run: Pick<SyncRun, 'overlapMs' | 'resweep' | 'pageSize'> = {},
) {
  const chain = operationsChain(changes);
  let nowMs = 0;
  const simulator = await startSimulator({ seed: watchSeed, chains: [chain], clock: () => nowMs });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const runner = await openRunner(database, {
    url: simulator.url,
    chains: [chain],
    operations: ['user-operations'],
    ...run,
  });
  /** A run at a simulated time; says how many requests it cost. */
  const runAt = async (atMs: number, change?: Change) => {
    nowMs = atMs;
    const before = simulator.requests;
    await runner.runAt(new Date(startInstantMs + atMs), change);
    // The history by one walk, so that each request is foreseen; what is read again by four.
    await database.pool.query(`update etl.feeds set settings = settings || '{"parallel": 4}'`);
    return simulator.requests - before;
  };
  const query = async (sql: string) => (await database.pool.query<Row>(sql)).rows;
  const stored = () =>
    query(`select hash, block_number, fee, status, removed_at is not null as is_removed
           from explorer.user_operations order by hash`);
  /** What an observer who never blinked holds at a simulated time. */
  const expectedAt = (atMs: number) =>
    truthAt(watchSeed, chain, { operations: ['user-operations'] }, atMs)
      .user_operations.map((row) => ({
        hash: String(row['hash']),
        block_number: String(row['block_number']),
        fee: String(row['fee']),
        status: row['status'],
        is_removed: row['removed_at'] !== null,
      }))
      .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return { database, runAt, query, stored, expectedAt };
}

type Row = Record<string, unknown>;
type Change = NonNullable<Parameters<Runner['runAt']>[1]>;

/** The backfill lane alone, reading all known history once more. */
export const readAgain: Change = ({ lane }) => (lane.lane === 'backfill' ? { again: true } : null);
