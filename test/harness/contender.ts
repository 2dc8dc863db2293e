import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { openEngine, prepareDatabase, type Engine } from '../../src/app.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import { takeWalk } from '../../src/feeds/take-walk.ts';
import { currentRun, openRun } from '../../src/feeds/run.ts';
import type { RunRow } from '../../src/lists/tables.ts';
import type { RunScope } from '../../src/lists/tables.ts';
import { createLog } from '../../src/log.ts';
import { operations } from '../../src/operations/index.ts';
import type { SliceBudget } from '../../src/walk/request.ts';
import { runWalk, type WalkOutcome } from '../../src/walk/walk.ts';
import type { HeldWalk } from '../../src/walk/walk-row.ts';
import type { TestDatabase } from './database.ts';
import { patient, settingsFor, type SyncRun } from './sync.ts';

/** An engine of its own on a database, as each process has one. */
export async function openContender(
  database: Pick<TestDatabase, 'url' | 'pool'>,
  run: SyncRun,
): Promise<Engine> {
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
    dbTimeouts: patient,
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** Opens a run of a lane. */
export async function beginRun({ db }: Engine, lane: FeedLane, scope: RunScope): Promise<RunRow> {
  await openRun(db, lane, scope);
  const run = await currentRun(db, lane);
  if (run === null) throw new Error('the run is not open');
  return run;
}

/** Claims the run's walk, whoever holds it; null when there is none left. */
export async function claim({ db, clock, origin }: Engine, run: RunRow): Promise<HeldWalk | null> {
  const walk = await takeWalk(db, run, { held: [], at: clock(), origin: origin() });
  return typeof walk === 'string' ? null : walk;
}

/** Walks on from a claim for at most so many pages. */
export const walkOn = (engine: Engine, walk: HeldWalk, pages: number): Promise<WalkOutcome> =>
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
