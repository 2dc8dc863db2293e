import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { openEngine, prepareDatabase } from '../../src/app.ts';
import type { OpenDatabase } from '../../src/open-database.ts';
import { advance, type AdvanceDependencies } from '../../src/feeds/advance.ts';
import { dueLanes } from '../../src/feeds/due.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import { configuredLanes, type ConfiguredLane } from '../../src/feeds/lanes.ts';
import type { RunScope } from '../../src/lists/tables.ts';
import { openRun } from '../../src/feeds/run.ts';
import { createLog } from '../../src/log.ts';
import type { TestDatabase } from './database.ts';
import { patient, settingsFor, type SyncRun } from './sync.ts';

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
export async function openRunner(database: TestDatabase, run: SyncRun): Promise<Runner> {
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
