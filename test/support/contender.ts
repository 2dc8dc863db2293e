import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { openEngine, prepareDatabase, type Engine } from '../../src/app.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import { takeWalk } from '../../src/feeds/take-walk.ts';
import { currentTick, openTick } from '../../src/feeds/tick.ts';
import type { TickRow } from '../../src/lists/tables.ts';
import type { TickScope } from '../../src/lists/tables.ts';
import { createLog } from '../../src/log.ts';
import { operations } from '../../src/operations/index.ts';
import type { SliceBudget } from '../../src/walk/request.ts';
import { runWalk, type WalkOutcome } from '../../src/walk/walk.ts';
import type { WalkRow } from '../../src/walk/walk-row.ts';
import type { TestDatabase } from './database.ts';
import { patient, settingsFor, type SyncRun } from './sync.ts';

/** An engine of its own on a database, as each process has one. */
export async function openContender(database: TestDatabase, run: SyncRun): Promise<Engine> {
  const open = {
    url: database.url,
    pool: database.pool,
    db: drizzle(database.pool),
    embedded: null,
    close: async () => 'left-running' as const,
  };
  await prepareDatabase(open);
  const engine = await openEngine({
    settings: settingsFor(run),
    database: open,
    log: createLog('silent', () => undefined),
    supervise: false,
    patience: patient,
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** Opens a tick of a lane. */
export async function beginTick(
  { db }: Engine,
  lane: FeedLane,
  scope: TickScope,
): Promise<TickRow> {
  await openTick(db, lane, scope);
  const tick = await currentTick(db, lane);
  if (tick === null) throw new Error('the tick is not open');
  return tick;
}

/** Claims the tick's walk, whoever holds it; null when there is none left. */
export async function claim({ db, clock, origin }: Engine, tick: TickRow): Promise<WalkRow | null> {
  const walk = await takeWalk(db, tick, { held: [], at: clock(), origin: origin() });
  return typeof walk === 'string' ? null : walk;
}

/** Walks on from a claim for at most so many pages. */
export const walkOn = (engine: Engine, walk: WalkRow, pages: number): Promise<WalkOutcome> =>
  runWalk(
    walk,
    {
      ...engine,
      ...engine.reading(),
      operation: operations[walk.operation],
      budget: pageBudget(pages),
      onCommit: () => undefined,
    },
    new AbortController().signal,
  );

/** A slice's budget of so many pages. */
export function pageBudget(pages: number): SliceBudget & { readonly spent: boolean } {
  let left = pages;
  return {
    get spent() {
      return left === 0;
    },
    takePage() {
      if (left === 0) return false;
      left -= 1;
      return true;
    },
  };
}
