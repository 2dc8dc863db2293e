import type { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import { loadPages } from '../load/load.ts';
import type { Operation, WalkContext } from '../operations/operation.ts';
import { lockWalk, moveCheckpoint, type WalkAdvance } from './checkpoint.ts';
import type { ReadPage } from './fetch.ts';
import { recordPages, recordQuarantined } from './ledger.ts';
import type { NormalisedPage } from './page.ts';
import { cursorLoop, spellCursor, type WalkEnd } from './progress.ts';
import type { WalkRow } from './walk-row.ts';

/** A transaction's outcome: the walk as it stands now, and its end if it has come. */
export interface Committed {
  readonly walk: WalkRow;
  readonly end: WalkEnd | null;
}

/**
 * Commits pages whole: their rows, their ledger entries and the walk's checkpoint, in one
 * transaction (promise 1). A page whose next cursor was used before is kept, and the walk ends
 * there: the list goes round in circles.
 *
 * @throws FencedError when the walk was taken over; nothing is written then
 */
export async function commitPages(
  db: Database,
  operation: Operation<z.ZodType>,
  walk: WalkRow,
  read: readonly ReadPage[],
): Promise<Committed> {
  return db.transaction(async (tx) => {
    const used = await lockWalk(
      tx,
      walk,
      read.map(({ page }) => page.cursor_out),
    );
    const { kept, end } = untilLoop(read, used);
    const pages = kept.map(({ page }) => page);
    const counts = await loadPages(tx, operation, pages);
    await recordPages(tx, walk, pages, counts);
    await recordQuarantined(tx, walk, pages);
    for (const page of pages) {
      await operation.afterPage?.(tx, context(walk, page), page.rows);
    }
    const last = pages.at(-1);
    if (end?.is === 'end' && last !== undefined) {
      await operation.afterWalk?.(tx, context(walk, last));
    }
    const total = (count: 'inserted' | 'changed') =>
      [...counts.values()].reduce((sum, page) => sum + page[count], 0);
    const moved = await moveCheckpoint(tx, walk, {
      ...sumOf(kept),
      ...stateAfter(end),
      inserted: total('inserted'),
      changed: total('changed'),
    });
    return { walk: moved, end };
  });
}

/** The pages up to the first one whose next cursor stands in the ledger or in this transaction. */
function untilLoop(
  read: readonly ReadPage[],
  used: ReadonlySet<number>,
): { kept: readonly ReadPage[]; end: WalkEnd | null } {
  const seen = new Set<string>();
  for (const [index, { page }] of read.entries()) {
    seen.add(spellCursor(page.cursor_in));
    const loops = page.cursor_out !== null && seen.has(spellCursor(page.cursor_out));
    if (loops || used.has(index)) return { kept: read.slice(0, index + 1), end: cursorLoop };
  }
  return { kept: read, end: read.at(-1)?.end ?? null };
}

function stateAfter(end: WalkEnd | null): Pick<WalkAdvance, 'state' | 'reason'> {
  if (end === null) return { state: 'running', reason: null };
  switch (end.is) {
    case 'end':
      return { state: 'finished', reason: null };
    case 'bound':
      return { state: 'finished', reason: end.bound };
    case 'failed':
      return { state: 'failed', reason: end.reason };
  }
}

function sumOf(
  kept: readonly ReadPage[],
): Omit<WalkAdvance, 'inserted' | 'changed' | 'state' | 'reason'> {
  const pages = kept.map(({ page }) => page);
  const heights = pages.flatMap(({ top, bottom }) =>
    top === null || bottom === null ? [] : [top, bottom],
  );
  return {
    cursor: pages.at(-1)?.cursor_out ?? null,
    pages: pages.length,
    items: pages.reduce((sum, { items }) => sum + items, 0),
    quarantined: pages.reduce((sum, { quarantined }) => sum + quarantined.length, 0),
    empty_run: kept.at(-1)?.emptyRun ?? 0,
    top: heights.length === 0 ? null : Math.max(...heights),
    bottom: heights.length === 0 ? null : Math.min(...heights),
    isOrdered: pages.every(({ isOrdered }) => isOrdered),
  };
}

const context = (walk: WalkRow, page: NormalisedPage): WalkContext => ({
  walk_id: walk.id,
  chain_id: walk.chain_id,
  scope: walk.scope,
  floor: walk.floor,
  page_id: page.page_id,
  isConclusive: page.isOrdered && page.quarantined.length === 0,
});
