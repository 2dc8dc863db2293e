import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { type NewDrift, recordDrift } from '../drift/record.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { lockEnds } from '../lists/feed.ts';
import { kinds } from '../lists/index.ts';
import type {
  Operation,
  PageEnd,
  PageInWalk,
  WalkContext,
  WalkEndContext,
} from '../lists/operation.ts';
import type { HeldWalk, WalkRow } from '../lists/tables.ts';
import { loadPages } from '../load/load.ts';
import { type CountsByPage, shapeOf } from '../load/upsert.ts';
import { signals } from '../signals.ts';
import {
  arrivingWalk,
  handOff,
  lockAbove,
  lockWalk,
  moveCheckpoint,
  type WalkAdvance,
} from './checkpoint.ts';
import {
  type CoverageState,
  coverPages,
  cursorLoop,
  cursorText,
  missedEntry,
  type WalkEnd,
} from './judge.ts';
import {
  archiveBodies,
  endBefore,
  endOf,
  isConclusive,
  recordPages,
  recordQuarantined,
} from './ledger.ts';
import type { NormalisedPage } from './normalise.ts';
import type { ReadPage } from './walk.ts';

/** A transaction's outcome: the walk as it stands now, and its end if it has come. */
export interface Committed {
  readonly walk: HeldWalk;
  readonly end: WalkEnd | null;
  /** Where its last page ends, for the next one. */
  readonly above: PageEnd | null;
  /** How the pages differ from the specification in ways that the feed had not shown before. */
  readonly drift: readonly NewDrift[];
}

/** Pages to commit, and where the page before them ended; read from the ledger if it is unknown. */
export interface ToCommit {
  readonly read: readonly ReadPage[];
  readonly above: PageEnd | null | 'unknown';
}

/**
 * Commits pages whole: their rows, their ledger entries, coverage and the walk's checkpoint, in one
 * transaction (promise 1). A page whose next cursor was used before is kept, and the walk ends
 * there: the list goes round in circles.
 *
 * @throws FencedError when the walk was taken over; nothing is written then
 */
export async function commitPages(
  db: Database,
  operation: Operation,
  walk: HeldWalk,
  toCommit: ToCommit,
): Promise<Committed> {
  const begun = performance.now();
  const { counts, advance, ...committed } = await transact(db, (tx) =>
    writePages(tx, operation, walk, toCommit),
  );
  const { pages, inserted, changed, quarantined } = advance;
  signals.emit('commit', {
    by: db.$client,
    feed: walk.feed,
    lane: walk.lane,
    table: shapeOf(operation.table).name,
    pages,
    changing: [...counts.values()].filter((page) => page.inserted + page.changed > 0).length,
    inserted,
    changed,
    quarantined,
    ms: performance.now() - begun,
  });
  return committed;
}

interface Written extends Committed {
  readonly counts: CountsByPage;
  readonly advance: ReturnType<typeof advanceOf>;
}

/** Lock, rows, ledger, coverage, checkpoint, in this order. What several walks share comes last. */
async function writePages(
  tx: Transaction,
  operation: Operation,
  walk: HeldWalk,
  { read, above: known }: ToCommit,
): Promise<Written> {
  // First of all, or one end that holds rows would wait for another that wants them.
  if (readDownTo(walk, read.at(-1)?.end ?? null) !== null) await lockEnds(tx, walk);
  const arriving = arrivingWalk(walk);
  if (arriving !== null) await lockAbove(tx, arriving);
  const cursors = read.map(({ page }) => page.cursor_out);
  const concludes = (read.at(-1)?.end ?? null) !== null;
  const { used, alwaysPresent, floor } = await lockWalk(tx, walk, cursors, concludes);
  const { kept, end } = untilLoop(read, used);
  // What concludes something is on the disk before anything else relies on it.
  if (end !== null && !concludes) {
    await tx.execute(sql`set local synchronous_commit to default`);
  }

  const kind = kinds[operation.kind];
  const pages = kept.map(({ page }) => page);
  const previous = known === 'unknown' ? await endBefore(tx, operation, walk) : known;
  const contexts = contextsOf(walk, pages, previous);
  const informative = await kind.informative(operation, tx, contexts);
  const counts = await loadPages(tx, operation, pages);
  await recordPages(tx, operation, walk, { pages, counts });

  // Those that stored rows do not confirm.
  const jumping = new Set<number>();
  for (const { walk: context, rows } of contexts) {
    const { page_id } = context;
    if (!informative.has(page_id)) continue;
    const written = { ...context, inserted: counts.get(page_id)?.inserted ?? 0 };
    if (!(await kind.afterPage(operation, tx, written, rows))) jumping.add(page_id);
  }
  const coverage = coverPages(operation.order, walk, { pages, jumping, end });
  const last = pages.at(-1);
  const said = await concludeWalk(tx, operation, walk, { last, counts, end, coverage });
  if (arriving !== null) await handOff(tx, arriving, kept);

  await archiveBodies(tx, kept);
  await recordQuarantined(tx, walk, pages);
  const drift = await recordDrift(tx, walk, pages, alwaysPresent);
  const advance = advanceOf(kept, counts, end);
  const moved = await moveCheckpoint(tx, walk, {
    ...advance,
    ...(said !== null && { reason: said }),
    coverage,
  });
  return {
    walk: { ...moved, floor, incarnation: walk.incarnation },
    end,
    above: last === undefined ? null : endOf(last),
    drift,
    counts,
    advance,
  };
}

/** The pages up to the first one whose next cursor stands in the ledger or in this transaction. */
function untilLoop(
  read: readonly ReadPage[],
  used: ReadonlySet<number>,
): { kept: readonly ReadPage[]; end: WalkEnd | null } {
  const seen = new Set<string>();
  for (const [index, { page }] of read.entries()) {
    seen.add(cursorText(page.cursor_in));
    const loops = page.cursor_out !== null && seen.has(cursorText(page.cursor_out));
    if (loops || used.has(index)) return { kept: read.slice(0, index + 1), end: cursorLoop };
  }
  return { kept: read, end: read.at(-1)?.end ?? null };
}

/** The height down to which an ended walk has read its list whole; null where nothing is concluded. */
function readDownTo({ scope }: WalkRow, end: WalkEnd | null): number | null {
  if (end?.is === 'end') return 0;
  return end?.is === 'bound' && end.bound === 'known' ? (scope.known?.height ?? null) : null;
}

/** How a walk stands after some pages. */
interface WalkStand {
  /** The last page; absent: nothing is concluded. */
  readonly last: PageStand | undefined;
  readonly counts: CountsByPage;
  readonly end: WalkEnd | null;
  readonly coverage: Pick<CoverageState, 'cuts'>;
}

type PageStand = Pick<NormalisedPage, 'page_id' | 'cursor_in' | 'isOrdered' | 'quarantined'>;

/**
 * Lets the operation conclude from a walk, if it has read its list whole.
 *
 * @returns why the walk says less than a whole list; null if it does not, or nothing is concluded
 */
export async function concludeWalk(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { last, counts, end, coverage }: WalkStand,
): Promise<string | null> {
  const down = readDownTo(walk, end);
  if (down === null || last === undefined) return null;
  const isUnbroken = coverage.cuts === 0 && isConclusive(last);
  const context = { ...contextOf(walk, last, counts, null), readDownTo: down, isUnbroken };
  return kinds[operation.kind].afterWalk(operation, tx, context satisfies WalkEndContext);
}

/** What an operation gets to know of a page that is written as part of a walk. */
const contextOf = (
  walk: WalkRow,
  page: PageStand,
  counts: CountsByPage,
  above: PageEnd | null,
): WalkContext => ({
  walk_id: walk.id,
  run_id: walk.run_id,
  chain_id: walk.chain_id,
  feed: walk.feed,
  started_at: walk.started_at,
  scope: walk.scope,
  floor: walk.floor,
  page_id: page.page_id,
  cursor: page.cursor_in,
  inserted: counts.get(page.page_id)?.inserted ?? 0,
  above,
  isConclusive: isConclusive(page),
});

/** The pages with their context, before anything was counted; each one with the end of the page before it. */
function contextsOf(
  walk: WalkRow,
  pages: readonly NormalisedPage[],
  above: PageEnd | null,
): PageInWalk[] {
  const ends = [above, ...pages.map(endOf)];
  return pages.map((page, at) => ({
    walk: contextOf(walk, page, new Map(), page.isJoined ? (ends[at] ?? null) : null),
    rows: page.rows,
  }));
}

/** What pages add to their walk, and how it stands after them. */
function advanceOf(kept: readonly ReadPage[], counts: CountsByPage, end: WalkEnd | null) {
  const pages = kept.map(({ page }) => page);
  const sum = (of: (read: ReadPage) => number) => kept.reduce((total, read) => total + of(read), 0);
  const counted = (what: 'inserted' | 'changed') =>
    sum(({ page }) => counts.get(page.page_id)?.[what] ?? 0);
  const heights = pages.flatMap(({ top, bottom }) =>
    top === null || bottom === null ? [] : [top, bottom],
  );
  return {
    cursor: pages.at(-1)?.cursor_out ?? null,
    pages: pages.length,
    items: sum(({ page }) => page.items),
    inserted: counted('inserted'),
    changed: counted('changed'),
    quarantined: sum(({ page }) => page.quarantined.length),
    archived_bytes: sum(({ body }) => body?.length ?? 0),
    credits: sum(({ page }) => page.attempts * creditsPerRequest),
    empty_run: kept.at(-1)?.emptyRun ?? 0,
    top: heights.length === 0 ? null : Math.max(...heights),
    bottom: heights.length === 0 ? null : Math.min(...heights),
    isOrdered: missedEntry(kept.at(-1)) || pages.every(({ isOrdered }) => isOrdered),
    ...stateAfter(end),
  };
}

function stateAfter(end: WalkEnd | null): Pick<WalkAdvance, 'state' | 'failure' | 'reason'> {
  switch (end?.is) {
    case undefined:
      return { state: 'running', failure: null, reason: null };
    case 'end':
      return { state: 'finished', failure: null, reason: null };
    case 'bound':
      return { state: 'finished', failure: null, reason: end.bound };
    case 'failed':
      return { state: 'failed', failure: end.failure, reason: end.reason };
  }
}
