import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startInstantMs, startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { truthAt } from '../../harness/truth/truth.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';

const seed = 17;
const minuteMs = 60_000;
const runMs = 5 * minuteMs;
const runs = 18;

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 600,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
  motion: {
    operationsPerMinute: 20,
    latePercent: 4,
    latestLateMs: 40 * minuteMs,
    orphanedPercent: 2,
    reincludedPercent: 50,
  },
};

interface StoredOperation {
  readonly hash: string;
  readonly block_number: string;
  readonly fee: string;
  readonly status: boolean | null;
  readonly is_removed: boolean;
}

async function stored(pool: Pool): Promise<StoredOperation[]> {
  const { rows } = await pool.query<StoredOperation>(
    `select hash, block_number, fee, status, removed_at is not null as is_removed
     from explorer.user_operations order by hash`,
  );
  return rows;
}

/** What an observer who never blinked holds at a simulated time. */
function expected(atMs: number): StoredOperation[] {
  return truthAt(seed, chain, { operations: ['user-operations'] }, atMs)
    .user_operations.map((row) => ({
      hash: String(row['hash']),
      block_number: String(row['block_number']),
      fee: String(row['fee']),
      status: row['status'] as boolean | null,
      is_removed: row['removed_at'] !== null,
    }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
}

async function world() {
  let nowMs = 0;
  const simulator = await startSimulator({ seed, chains: [chain], clock: () => nowMs });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  /** A sync at a simulated time. */
  const syncAt = async (atMs: number, overlapMs?: number) => {
    nowMs = atMs;
    const before = simulator.requests;
    const results = await runSync(database, {
      url: simulator.url,
      chains: [chain],
      operations: ['user-operations'],
      at: new Date(startInstantMs + atMs),
      ...(overlapMs !== undefined && { overlapMs }),
    });
    expect(results.map(({ state }) => state)).not.toContain('failed');
    return simulator.requests - before;
  };
  return { database, syncAt };
}

test('a list whose head grows, with late, orphaned and re-included items, is followed exactly', async () => {
  const { database, syncAt } = await world();
  for (let run = 0; run <= runs; run += 1) await syncAt(run * runMs);

  // One poll as deep as all that moved: what the resweeps' intervals have not come to yet.
  await syncAt(runs * runMs, 2 * runs * runMs);

  const operations = await stored(database.pool);
  expect(operations).toEqual(expected(runs * runMs));
  expect(operations.filter((operation) => operation.is_removed).length).toBeGreaterThan(5);
  const gaps = await database.pool.query('select from explorer.gaps');
  expect(gaps.rows).toEqual([]);
  const late = await database.pool.query('select from explorer.late_arrivals');
  expect(late.rows.length).toBeGreaterThan(0);
});
