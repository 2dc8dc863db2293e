import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { FeedLane } from '../lists/feed.ts';
import { atOnce, dueLanes } from '../feeds/due.ts';
import { feedName } from '../lists/feed.ts';
import { noteStopped, runResults, type RunResult } from '../feeds/run.ts';
import { runSums, sumsSince, type RunSums } from '../feeds/run-sums.ts';
import type { RunScope } from '../lists/tables.ts';
import { returnToPresent } from './boss-tables.ts';
import { openLane } from './schedule.ts';
import { sendSlice } from './send.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

/** A lane to bring up to date, and what that covers. */
export interface SyncTarget {
  readonly lane: FeedLane;
  readonly scope: RunScope;
}

/** How a target ended, and what it came to. `open` means that the sync was interrupted before its end. */
export interface SyncResult extends SyncTarget, Omit<RunResult, 'id'>, RunSums {
  readonly feed: string;
}

/** How often the targets' runs are looked at, in ms. */
const pollIntervalMs = 200;
/** How often a target's job is queued again if it is nowhere, in ms: another worker may have let go. */
const nudgeIntervalMs = 2_000;

export type SyncOptions = Omit<WorkerOptions, 'works' | 'onFailure'> & { readonly pool: Pool };

/**
 * Brings lanes up to date once: opens a run for each, works on them with the same slices as any
 * worker, beside other workers if there are, and returns when every run is closed.
 */
export async function syncOnce(
  targets: readonly SyncTarget[],
  options: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult[]> {
  const { db } = options;
  const mine = new Set(targets.map(({ lane }) => `${feedName(lane)}/${lane.lane}`));
  const opened = await openDue(targets, options);
  // Of a run that goes on with an earlier one's walks, only what comes now is this sync's.
  const before = await runSums(db, joinedOf(opened));
  const worker = await startWorker({
    ...options,
    works: (lane) => mine.has(`${feedName(lane)}/${lane.lane}`),
    onFailure: 'give-up',
  });
  try {
    await untilClosed(opened, options, signal);
    const old = [...opened.values()].filter(
      ({ isJoined, lane }) => isJoined && lane.lane === 'live',
    );
    // A live run that an earlier sync began has not seen what came since: a new one looks again.
    if (old.length > 0 && !signal.aborted) {
      const again = await openDue(old, options);
      await untilClosed(again, options, signal);
      for (const [id, target] of again) opened.set(id, target);
    }
  } finally {
    await worker.stop();
    // Those too that waited for their turn.
    if (signal.aborted) await noteStopped(db, [...opened.keys()]).catch(() => undefined);
  }
  const results = await runResults(db, [...opened.keys()]);
  const sums = await runSums(db, [...opened.keys()]);
  return results.flatMap(({ id, ...how }) => {
    const target = opened.get(id);
    if (target === undefined) return [];
    const { lane, scope } = target;
    const came = sums.get(id);
    if (came === undefined) return [];
    return [{ ...how, ...sumsSince(came, before.get(id)), lane, scope, feed: feedName(lane) }];
  });
}

interface OpenTarget extends SyncTarget {
  readonly isJoined: boolean;
}

const joinedOf = (opened: ReadonlyMap<number, OpenTarget>) =>
  [...opened].flatMap(([id, { isJoined }]) => (isJoined ? [id] : []));

/**
 * Opens a run for each target that has something to do. One after the other, the live lanes
 * first: what a resumed live walk is about to read is no gap for history.
 */
async function openDue(
  targets: readonly SyncTarget[],
  { db, boss, clock }: SyncOptions,
): Promise<Map<number, OpenTarget>> {
  const opened = new Map<number, OpenTarget>();
  for (const target of targets) {
    for (const { lane, scope } of await dueLanes(db, [target], 'sync', clock())) {
      const { id, isJoined } = await openLane(db, boss, lane, atOnce({ lane, scope }));
      opened.set(id, { lane, scope, isJoined });
    }
  }
  return opened;
}

async function untilClosed(
  ids: ReadonlyMap<number, SyncTarget>,
  { db, boss, now }: SyncOptions,
  signal: AbortSignal,
): Promise<void> {
  let nudged = now();
  while (!signal.aborted) {
    const open = (await runResults(db, [...ids.keys()])).filter(({ state }) => state === 'open');
    if (open.length === 0) return;
    if (now() - nudged >= nudgeIntervalMs) {
      nudged = now();
      await returnToPresent(db);
      for (const { id } of open) {
        const target = ids.get(id);
        if (target !== undefined) await sendSlice(boss, target.lane);
      }
    }
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}
