import type { Occasion } from '../../src/lists/list.ts';
import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { openEngine, prepareDatabase, type OpenDatabase } from '../../src/app.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { Database } from '../../src/db/transaction.ts';
import { advance, type AdvanceDependencies } from '../../src/feeds/advance.ts';
import { atOnce, dueLanes } from '../../src/feeds/due.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import type { TickScope } from '../../src/lists/tables.ts';
import { openTick } from '../../src/feeds/tick.ts';
import { createLog } from '../../src/log.ts';
import type { TestDatabase } from './database.ts';

/** A lane and what a tick of it covers. */
export interface TickTarget {
  readonly lane: FeedLane;
  readonly scope: TickScope;
}

/** Works on lanes in this process, without a queue: what is due at a time, to its end. */
export interface Ticker {
  readonly db: Database;
  /** @returns how each tick ended, in the order of the targets that were due */
  tick(targets: readonly TickTarget[], at: Date, occasion: Occasion): Promise<string[]>;
}

/** As much as any tick of a test needs. */
const unlimited = { spent: false, takePage: () => true };

/** A ticker of the product's own composition; closed when the running test ends. */
export async function openTicker(database: TestDatabase, settings: Settings): Promise<Ticker> {
  const open: OpenDatabase = {
    url: database.url,
    pool: database.pool,
    db: drizzle(database.pool),
    embedded: null,
    close: async () => 'left-running',
  };
  await prepareDatabase(open);
  const log = createLog('silent', () => undefined);
  const engine = await openEngine({ settings, database: open, log, supervise: false });
  onTestFinished(() => engine.close());
  return {
    db: open.db,
    async tick(targets, at, occasion) {
      const ended: string[] = [];
      for (const target of targets) {
        const [due] = await dueLanes(open.db, [target], occasion, at);
        if (due === undefined) continue;
        const scope = occasion === 'sync' ? atOnce(due) : due.scope;
        await openTick(open.db, due.lane, scope);
        ended.push(await runTick(due.lane, { ...engine, clock: () => at }));
      }
      return ended;
    },
  };
}

async function runTick(lane: FeedLane, dependencies: AdvanceDependencies): Promise<string> {
  for (;;) {
    const outcome = await advance(lane, unlimited, dependencies, new AbortController().signal);
    if (outcome.is === 'closed') {
      return outcome.failures.map(({ reason }) => reason).join('; ') || 'finished';
    }
    if (outcome.is === 'trouble') return outcome.trouble.reason;
    if (outcome.is !== 'more') return outcome.is;
  }
}
