import { type SimulatedChain, startInstantMs } from '../../../simulator/index.ts';
import type { RunScope } from '../../../src/lists/tables.ts';
import type { ConfiguredLane } from '../../../src/sync/feeds.ts';
import { openRunner } from '../../harness/runner.ts';
import { openCopy, plainChain, type SyncRun } from '../../harness/sync.ts';
import { truthAt } from '../../truth/truth.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

const watchSeed = 23;

/** Replaces parts of a lane's scope; null: the lane gets no run. */
type Change = (lane: ConfiguredLane) => Partial<RunScope> | null;

/** The backfill lane alone, reading all known history once more. */
export const readAgain: Change = ({ lane }) => (lane.lane === 'backfill' ? { again: true } : null);

/** A simulated list of user operations that runs follow on a driven clock, in a fresh database. */
export async function watchOperations(
  changes: Partial<SimulatedChain>,
  run: Pick<SyncRun, 'overlapMs' | 'resweep' | 'pageSize'> = {},
) {
  const chain: SimulatedChain = { ...plainChain, userOperations: 600, ...changes };
  const operations = ['user-operations'] as const;
  const { simulator, database, clock, query } = await openCopy(chain, { seed: watchSeed });
  const runner = await openRunner(database, {
    url: simulator.url,
    chains: [chain],
    operations,
    ...run,
  });
  /** A scheduled run at a simulated time, the live lane first; says how many requests it cost. */
  const runAt = async (atMs: number, change: Change = () => ({})) => {
    clock.nowMs = atMs;
    const before = simulator.requests;
    const targets = runner.lanes.flatMap((target) => {
      const changed = change(target);
      return changed === null ? [] : [{ ...target, scope: { ...target.scope, ...changed } }];
    });
    await runner.run(targets, new Date(startInstantMs + atMs), 'schedule');
    // The history by one walk, so that each request is foreseen; what is read again by four.
    await database.query(`update etl.feeds set settings = settings || '{"parallel": 4}'`);
    return simulator.requests - before;
  };
  const stored = () =>
    query(`select hash, block_number, fee, status, removed_at is not null as is_removed
           from explorer.user_operations order by hash`);
  /** What an observer who never blinked holds at a simulated time. */
  const expectedAt = (atMs: number) =>
    truthAt(watchSeed, chain, { operations }, atMs)
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
