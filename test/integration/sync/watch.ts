import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { type SimulatedChain, startInstantMs, startSimulator } from '../../../simulator/index.ts';
import { openEngine, prepareDatabase } from '../../../src/app.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import type { RunScope } from '../../../src/lists/tables.ts';
import { createLog } from '../../../src/log.ts';
import type { OpenDatabase } from '../../../src/open-database.ts';
import { advance, type AdvanceDependencies } from '../../../src/sync/advance.ts';
import { openRun } from '../../../src/sync/runs.ts';
import { type ConfiguredLane, configuredLanes, dueLanes } from '../../../src/sync/targets.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { patient, settingsFor, type SyncRun } from '../../harness/sync.ts';
import { truthAt } from '../../harness/truth/truth.ts';

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

/** Opens runs at times that a test says, and works on them to their end, without a queue. */
export interface Runner {
  /**
   * What a schedule does at a time: each lane that is due gets its run. `change` replaces parts of
   * the lanes' scopes; a lane for which it says null gets none.
   */
  runAt(at: Date, change?: (lane: ConfiguredLane) => Partial<RunScope> | null): Promise<void>;
}

/** A slice that never has to stop. */
const endless = { takePage: () => true, spent: false };

async function work(lane: FeedLane, dependencies: AdvanceDependencies): Promise<void> {
  for (;;) {
    const outcome = await advance(lane, endless, dependencies, new AbortController().signal);
    if (outcome.is === 'closed' || outcome.is === 'idle') return;
    if (outcome.is !== 'more') throw new Error(`the ${lane.lane} lane: ${outcome.is}`);
  }
}

/** A runner on a test database, closed when the running test ends. */
async function openRunner(database: TestDatabase, run: SyncRun): Promise<Runner> {
  const settings = settingsFor(run);
  const db = drizzle(database.pool);
  const open: OpenDatabase = {
    ...database,
    db,
    embedded: null,
    close: async () => 'left-running',
  };
  await prepareDatabase(open);
  const engine = await openEngine({
    settings,
    database: open,
    log: createLog('silent', () => undefined),
    supervise: false,
    dbTimeouts: patient,
  });
  onTestFinished(() => engine.close());
  return {
    async runAt(at, change = () => ({})) {
      const dependencies = { ...engine, clock: () => at };
      const targets = configuredLanes(settings.chains).flatMap((target) => {
        const changed = change(target);
        return changed === null ? [] : [{ ...target, scope: { ...target.scope, ...changed } }];
      });
      const due = await dueLanes(db, targets, 'schedule', at);
      for (const { lane, scope } of due) await openRun(db, lane, scope);
      // One after the other, the live lane first, so that a test's requests are always the same.
      for (const { lane } of due) await work(lane, dependencies);
    },
  };
}
