import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { openEngine, prepareDatabase, type OpenDatabase } from '../../src/app.ts';
import { advance, type AdvanceDependencies } from '../../src/feeds/advance.ts';
import { dueLanes } from '../../src/feeds/due.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import { configuredLanes, type ConfiguredLane } from '../../src/feeds/lanes.ts';
import type { TickScope } from '../../src/lists/tables.ts';
import { openTick } from '../../src/feeds/tick.ts';
import { createLog } from '../../src/log.ts';
import type { TestDatabase } from './database.ts';
import { patient, settingsFor, type SyncRun } from './sync.ts';

/** Opens ticks at times that a test says, and works on them to their end, without a queue. */
export interface Ticker {
  /**
   * What a schedule does at a time: each lane that is due gets its tick. `change` replaces parts of
   * the lanes' scopes; a lane for which it says null gets none.
   */
  tickAt(at: Date, change?: (lane: ConfiguredLane) => Partial<TickScope> | null): Promise<void>;
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

/** A ticker on a test database, closed when the running test ends. */
export async function openTicker(database: TestDatabase, run: SyncRun): Promise<Ticker> {
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
    patience: patient,
  });
  onTestFinished(() => engine.close());
  return {
    async tickAt(at, change = () => ({})) {
      const dependencies = { ...engine, clock: () => at };
      const targets = configuredLanes(settings.chains).flatMap((target) => {
        const changed = change(target);
        return changed === null ? [] : [{ ...target, scope: { ...target.scope, ...changed } }];
      });
      const due = await dueLanes(db, targets, 'tick', at);
      for (const { lane, scope } of due) await openTick(db, lane, scope);
      // One after the other, the live lane first, so that a test's requests are always the same.
      for (const { lane } of due) await work(lane, dependencies);
    },
  };
}
