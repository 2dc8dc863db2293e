import { onTestFinished } from 'vitest';
import type { Engine } from '../../src/app.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import type { Occasion, Target } from '../../src/lists/list.ts';
import { operations } from '../../src/lists/registry.ts';
import type { HeldWalk, RunRow, RunScope } from '../../src/lists/tables.ts';
import { advance, type AdvanceDependencies } from '../../src/sync/advance.ts';
import { configuredLanes, dueScope } from '../../src/sync/feeds.ts';
import type { SliceBudget } from '../../src/sync/page.ts';
import { currentRun, takeWalk } from '../../src/sync/runs.ts';
import { runWalk, type WalkDependencies, type WalkOutcome } from '../../src/sync/walk.ts';
import type { UsedDatabase } from './database.ts';
import { openComposed } from './engines.ts';
import { settingsFor, type SyncRun } from './sync.ts';
import { openRun } from './runs.ts';

/** What a slice may still do. */
export type SliceWork = Parameters<typeof advance>[1];

/** An engine of its own on a database, as each process has one. */
export async function openContender(database: UsedDatabase, run: SyncRun): Promise<Engine> {
  const engine = await openComposed(database, settingsFor(run));
  onTestFinished(() => engine.close());
  return engine;
}

/** The product's own composition, working on lanes in this process, without a queue; closed when the running test ends. */
export async function openRunner(database: UsedDatabase, run: SyncRun) {
  const engine = await openContender(database, run);
  return {
    db: engine.db,
    /** All lanes of the run, with its bounds as their targets. */
    lanes: configuredLanes(settingsFor(run).chains, run),
    /** Works on what is due at a time, to its end. @returns how each run ended, in the order of the targets */
    async run(
      targets: readonly Target[],
      at: Date,
      occasion: Occasion,
      budgetOf: () => SliceWork = () => pageBudget(Infinity),
    ) {
      const ended: string[] = [];
      for (const target of targets) {
        const { lane } = target;
        const scope = await dueScope(engine.db, target, occasion, at);
        if (scope === null) continue;
        await openRun(engine.db, lane, scope);
        ended.push(await workToEnd(lane, { ...engine, clock: () => at }, budgetOf));
      }
      return ended;
    },
  };
}

async function workToEnd(
  lane: FeedLane,
  dependencies: AdvanceDependencies,
  budgetOf: () => SliceWork,
): Promise<string> {
  for (;;) {
    const outcome = await advance(lane, budgetOf(), dependencies, new AbortController().signal);
    if (outcome.is === 'closed') {
      return outcome.failures.map(({ reason }) => reason).join('; ') || 'finished';
    }
    if (outcome.is === 'failure') return outcome.feedFailure.reason;
    if (outcome.is !== 'more') return outcome.is;
  }
}

/** Opens a run of a lane. */
export async function beginRun({ db }: Engine, lane: FeedLane, scope: RunScope): Promise<RunRow> {
  await openRun(db, lane, scope);
  const run = await currentRun(db, lane);
  if (run === null) throw new Error('the run is not open');
  return run;
}

/** Claims the run's walk from any holder; null when none is left. */
export async function claim({ db, clock, origin }: Engine, run: RunRow): Promise<HeldWalk | null> {
  const walk = await takeWalk(db, run, { held: [], at: clock(), origin });
  return typeof walk === 'string' ? null : walk;
}

/** Walks on from a claim for at most so many pages, beside walks with such queues. */
export const walkOn = (
  engine: Engine,
  walk: HeldWalk,
  pages: number,
  queues: WalkDependencies['queues'] = new Set(),
  signal = new AbortController().signal,
): Promise<WalkOutcome> =>
  runWalk(
    walk,
    {
      ...engine,
      operation: operations[walk.operation],
      queues,
      budget: pageBudget(pages),
      onCommit: () => undefined,
    },
    signal,
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
