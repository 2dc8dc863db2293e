import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/transaction.ts';
import { linkAbort } from './abort.ts';
import { FencedError } from './checkpoint.ts';
import { commitPages, type ToCommit } from './commit.ts';
import type { NewDrift } from '../drift/record.ts';
import { readPages, type ReadPage } from './fetch.ts';
import { PageQueue } from './page-queue.ts';
import type { WalkEnd } from './progress.ts';
import type { PageReader } from './request.ts';
import type { HeldWalk, WalkRow } from './walk-row.ts';

/** How a run of a walk ended. Only `ended` ends the walk itself. */
export type WalkOutcome =
  | { readonly is: 'ended'; readonly end: WalkEnd }
  | { readonly is: 'paused' }
  | { readonly is: 'fenced' }
  /** With the walk as it was left: its revision is the one that this worker holds. */
  | { readonly is: 'failure'; readonly error: unknown; readonly walk: WalkRow };

/** What a committed transaction added, for progress lines. */
export interface WalkProgress {
  readonly walk: WalkRow;
  readonly pages: number;
  readonly items: number;
  readonly drift: readonly NewDrift[];
}

export interface WalkDependencies extends Omit<PageReader, 'floor'> {
  readonly db: Database;
  /** How many pages may wait to be written, and how many bytes of JSON. */
  readonly readAhead: number;
  readonly readAheadBytes: number;
  /** How long pages wait for others that are written with them, in ms. */
  readonly gatherMs: number;
  readonly onCommit: (progress: WalkProgress) => void;
}

/**
 * Walks on from a walk's checkpoint. Reading runs ahead of writing: while pages are on their way,
 * the writer takes all that wait and commits them as one transaction, so a fast API makes big
 * transactions and a slow one small ones. `SPEC.md` beside this file has the states and bounds.
 *
 * @param walk as this worker claimed it; its revision fences every write
 * @throws what Postgres throws; what was committed stays, and the checkpoint says where to resume
 */
export async function runWalk(
  walk: HeldWalk,
  dependencies: WalkDependencies,
  signal: AbortSignal,
): Promise<WalkOutcome> {
  const queue = new PageQueue<ReadPage>(dependencies.readAhead, dependencies.readAheadBytes);
  let current = walk;
  using reader = linkAbort(signal);
  const floor = () => current.floor;
  const reading = readPages(walk, { ...dependencies, floor }, queue, reader.signal)
    .then(
      (outcome) => ({ outcome }) as const,
      (error: unknown) => ({ error }) as const,
    )
    .finally(() => queue.close());
  try {
    const end = await writePages(walk, dependencies, queue, (moved) => {
      current = moved;
    });
    if (end !== null) return { is: 'ended', end };
  } catch (error) {
    if (error instanceof FencedError) return { is: 'fenced' };
    throw error;
  } finally {
    queue.close();
    reader.abort(new Error('the writer stopped'));
    await reading;
  }
  const read = await reading;
  if (signal.aborted || 'outcome' in read) return { is: 'paused' };
  return { is: 'failure', error: read.error, walk: current };
}

/** Commits what the queue holds until it is drained or the walk ends. */
async function writePages(
  walk: HeldWalk,
  { db, operation, gatherMs, onCommit }: WalkDependencies,
  queue: PageQueue<ReadPage>,
  onMove: (walk: HeldWalk) => void,
): Promise<WalkEnd | null> {
  let current = walk;
  let above: ToCommit['above'] = 'unknown';
  for (;;) {
    // The first page tells others that the walk has arrived.
    const read = await queue.takeAll(
      current === walk ? undefined : (over) => sleep(gatherMs, undefined, { signal: over }),
    );
    if (read.length === 0) return null;
    const committed = await commitPages(db, operation, current, { read, above });
    ({ walk: current, above } = committed);
    onMove(current);
    onCommit({
      walk: current,
      pages: read.length,
      items: read.reduce((sum, { page }) => sum + page.items, 0),
      drift: committed.drift,
    });
    if (committed.end !== null) return committed.end;
  }
}
