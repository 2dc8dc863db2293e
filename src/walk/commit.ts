import { sql } from 'drizzle-orm';
import { type Database, transact } from '../db/transaction.ts';
import { type NewDrift, recordDrift } from '../drift/record.ts';
import { type CountsByPage, shapeOf } from '../load/upsert.ts';
import type { Operation, PageEnd } from '../operations/operation.ts';
import { signals, stopwatch } from '../signals.ts';
import { archiveBodies } from './archive.ts';
import { lockAbove, takeOver, walkAbove } from './arrival.ts';
import { lockWalk } from './checkpoint.ts';
import { lockOrder } from './conclude.ts';
import type { ReadPage } from './fetch.ts';
import { endOf, recordQuarantined } from './ledger.ts';
import type { NormalisedPage } from './page.ts';
import { cursorLoop, spellCursor, type WalkEnd } from './progress.ts';
import type { HeldWalk } from './walk-row.ts';
import { concludePages, endAbove, writeRows } from './write.ts';

/** A transaction's outcome: the walk as it stands now, and its end if it has come. */
export interface Committed {
  readonly walk: HeldWalk;
  readonly end: WalkEnd | null;
  /** Where its last page ends, for the next one. */
  readonly above: PageEnd | null;
  /** How the pages differ from the specification in ways that the feed had not shown before. */
  readonly drift: readonly NewDrift[];
}

/** Pages to commit, and where the page before them ended: asked for where that was not remembered. */
export interface ToCommit {
  readonly read: readonly ReadPage[];
  readonly above: PageEnd | null | 'unknown';
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
  operation: Operation,
  walk: HeldWalk,
  { read, above: known }: ToCommit,
): Promise<Committed> {
  const taken = stopwatch();
  const { pages, end, moved, drift, counts } = await transact(db, async (tx) => {
    const seam = walkAbove(walk);
    await lockOrder(tx, walk, read);
    if (seam !== null) await lockAbove(tx, seam);
    const locked = await lockWalk(
      tx,
      walk,
      read.map(({ page }) => page.cursor_out),
    );
    const { kept, end: reached } = untilLoop(read, locked.used);
    // A crash of the server may take back pages, with their checkpoint and all that holds the walk. What
    // concludes something is on the disk before anybody is told.
    if (reached === null) await tx.execute(sql`set local synchronous_commit = off`);
    const written = kept.map(({ page }) => page);
    const above = known === 'unknown' ? await endAbove(tx, operation, walk) : known;
    const rows = await writeRows(tx, operation, walk, { pages: written, above });
    const advanced = await concludePages(tx, operation, walk, { kept, end: reached, ...rows });
    if (seam !== null) await takeOver(tx, seam, kept);
    // Entries that several walks share come last: who waits for them holds up nobody's rows.
    await recordQuarantined(tx, walk, written);
    const differing = await recordDrift(tx, walk, written, locked.steady);
    await archiveBodies(
      tx,
      kept.flatMap(({ page: { page_id }, body }) => (body === null ? [] : [{ page_id, body }])),
    );
    return {
      pages: written,
      end: reached,
      moved: { ...advanced, floor: locked.floor },
      drift: differing,
      counts: rows.counts,
    };
  });
  signals.commit.tell(() => ({
    by: db.$client,
    feed: walk.feed,
    lane: walk.lane,
    table: shapeOf(operation.table).name,
    ...cameOf(pages, counts),
    ms: taken(),
  }));
  const last = pages.at(-1);
  return {
    walk: { ...moved, incarnation: walk.incarnation },
    end,
    above: last === undefined ? null : endOf(last),
    drift,
  };
}

/** What pages brought, as it is told. */
function cameOf(pages: readonly NormalisedPage[], counts: CountsByPage) {
  const came = pages.map(({ page_id }) => counts.get(page_id) ?? { inserted: 0, changed: 0 });
  const sum = (of: (page: (typeof came)[number]) => number) =>
    came.reduce((total, page) => total + of(page), 0);
  return {
    pages: pages.length,
    changing: sum(({ inserted, changed }) => (inserted + changed > 0 ? 1 : 0)),
    inserted: sum(({ inserted }) => inserted),
    changed: sum(({ changed }) => changed),
    quarantined: pages.reduce((total, { quarantined }) => total + quarantined.length, 0),
  };
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
