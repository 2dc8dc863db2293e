import { expect } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { openCopy, plainChain, type SyncRun } from './sync.ts';
import type { OpenDatabase, UsedDatabase } from './database.ts';
import { truthAt } from '../truth/truth.ts';
import { ledgerFaults } from './ledger.ts';
import { watchedDifferences } from './tables.ts';
import { sumFaults, sumUp } from './sums.ts';

const seed = 17;
const operations = ['user-operations'] as const;

/** Between two polls, in simulated ms. */
export const pollMs = 300_000;

/** How often a moving list is polled before it is held against the truth. */
const polls = 3;

/** A chain of a list of user operations whose head grows, with late, orphaned and re-included ones. */
export const movingChain = (id: number, name: string, userOperations: number): SimulatedChain => ({
  ...plainChain,
  id,
  name,
  userOperations,
  motion: {
    operationsPerMinute: 20,
    latePercent: 6,
    latestLateMs: 4 * pollMs,
    orphanedPercent: 4,
    reincludedPercent: 50,
  },
});

/** The truth of one who polls: what came and went between two polls was never there. */
async function seen({ pool }: UsedDatabase, chain: SimulatedChain, atMs: number) {
  const { rows } = await pool.query<{ hash: string }>(
    'select hash from explorer.user_operations where chain_id = $1',
    [chain.id],
  );
  const stored = new Set(rows.map(({ hash }) => hash));
  return truthAt(seed, chain, { operations }, atMs).user_operations.filter(
    (row) => row['removed_at'] === null || stored.has(String(row['hash'])),
  );
}

/** Moving lists of some chains, and syncs of them into a database at times that a test says. */
export async function movingCopy(database: OpenDatabase, chains: readonly SimulatedChain[]) {
  const copy = await openCopy(chains, { seed, database });
  const { simulator } = copy;
  const syncAt = (atMs: number, run: Partial<SyncRun> = {}) =>
    copy.syncAt(atMs, { operations, ...run });
  /** What is not as it should be for one who has watched until a time. */
  const faultsAt = async (atMs: number): Promise<object> => {
    await sumUp(database.pool);
    const found: Record<string, unknown> = {
      ...(await ledgerFaults(database.pool, 'ended')),
      ...(await sumFaults(database.pool)),
    };
    for (const chain of chains) {
      const world = { seed, chain, scope: { operations } };
      const known = { user_operations: await seen(database, chain, atMs) };
      Object.assign(found, await watchedDifferences(database.pool, world, atMs, known));
    }
    const open = await copy.open();
    return { ...found, ...(open.length > 0 && { open }) };
  };
  return {
    simulator,
    syncAt,
    faultsAt,
    /** Polls some times from a time on, then once as deep as all that moved, and looks at all. */
    async follow(fromMs: number): Promise<number> {
      for (let poll = 1; poll <= polls; poll += 1) await syncAt(fromMs + poll * pollMs);
      const endMs = fromMs + polls * pollMs;
      await syncAt(endMs, { overlapMs: 4 * (endMs + pollMs) });
      expect(await faultsAt(endMs)).toEqual({});
      const { rows } = await database.pool.query<Record<'late' | 'removed', number>>(
        `select (select count(*) from explorer.late_arrivals)::int as late,
                (select count(*) from explorer.user_operations where removed_at is not null)::int as removed`,
      );
      expect(rows[0]?.late).toBeGreaterThan(0);
      expect(rows[0]?.removed).toBeGreaterThan(0);
      return endMs;
    },
  };
}
