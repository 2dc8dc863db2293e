import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { type NewDrift, recordDrift } from '../drift/record.ts';
import { lockEnds } from '../lists/feed.ts';
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
import { signals, stopwatch } from '../signals.ts';
import { archiveBodies } from './archive.ts';
import { lockWalk, moveCheckpoint, type WalkAdvance } from './checkpoint.ts';
import { type CoverageState, coverEnd, coverPage } from './coverage.ts';
import { arrivingWalk, handOff, lockAbove, missedEntry } from './hand-off.ts';
import {
  creditsPerPage,
  endBefore,
  endOf,
  isConclusive,
  recordPages,
  recordQuarantined,
} from './ledger.ts';
import type { NormalisedPage } from './normalise.ts';
import { cursorLoop, cursorText, type WalkEnd } from './progress.ts';
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
    const arriving = arrivingWalk(walk);
    await lockOrder(tx, walk, read);
    if (arriving !== null) await lockAbove(tx, arriving);
    const locked = await lockWalk(
      tx,
      walk,
      read.map(({ page }) => page.cursor_out),
    );
    const { kept, end: reached } = untilLoop(read, locked.used);
    // A crash of the server may take back pages, with their checkpoint and all that holds the walk. What
    // concludes something is on the disk before anything else relies on it.
    if (reached === null) await tx.execute(sql`set local synchronous_commit = off`);
    const written = kept.map(({ page }) => page);
    const above = known === 'unknown' ? await endAbove(tx, operation, walk) : known;
    const rows = await writeRows(tx, operation, walk, { pages: written, above });
    const advance = await concludePages(tx, operation, walk, { kept, end: reached, ...rows });
    if (arriving !== null) await handOff(tx, arriving, kept);
    await archiveBodies(
      tx,
      kept.flatMap(({ page: { page_id }, body }) => (body === null ? [] : [{ page_id, body }])),
    );
    // Entries that several walks share come last, so that waiting for them holds up no rows.
    await recordQuarantined(tx, walk, written);
    const differing = await recordDrift(tx, walk, written, locked.steady);
    return {
      pages: written,
      end: reached,
      moved: { ...(await moveCheckpoint(tx, walk, advance)), floor: locked.floor },
      drift: differing,
      counts: rows.counts,
    };
  });
  signals.commit.publish(() => ({
    by: db.$client,
    feed: walk.feed,
    lane: walk.lane,
    table: shapeOf(operation.table).name,
    ...commitTotals(pages, counts),
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

/** What pages brought, for the signal. */
function commitTotals(pages: readonly NormalisedPage[], counts: CountsByPage) {
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
  return operation.afterWalk(tx, context satisfies WalkEndContext);
}

/** First of all, or one end that holds rows would wait for another that wants them. */
async function lockOrder(tx: Transaction, walk: WalkRow, read: readonly ReadPage[]): Promise<void> {
  if (readDownTo(walk, read.at(-1)?.end ?? null) !== null) await lockEnds(tx, walk);
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

/** Pages that follow on a walk's checkpoint, and the walk's end if it comes with them. */
interface Writing {
  readonly kept: readonly ReadPage[];
  readonly end: WalkEnd | null;
}

/** Where the page before ended, in a list whose pages say something of what is between them. */
const endAbove = async (tx: Transaction, { order }: Operation, walk: WalkRow) =>
  order?.givesCoverage === true ? endBefore(tx, walk, walk.pages) : null;

/** What became of the rows of pages. */
interface WrittenRows {
  readonly counts: CountsByPage;
  /** The pages with their context, before anything was counted. */
  readonly contexts: readonly PageInWalk[];
  /** Numbers of those pages from which something is to be concluded. */
  readonly informative: ReadonlySet<number>;
}

async function writeRows(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { pages, above }: { readonly pages: readonly NormalisedPage[]; readonly above: PageEnd | null },
): Promise<WrittenRows> {
  const ends = [above, ...pages.map(endOf)];
  const contexts = pages.map((page, at) => ({
    walk: contextOf(walk, page, new Map(), page.isJoined ? (ends[at] ?? null) : null),
    rows: page.rows,
  }));
  const informative = await operation.informative(tx, contexts);
  const counts = await loadPages(tx, operation, pages);
  return { counts, contexts, informative };
}

/**
 * Writes the ledger, and lets the operation conclude from each informative page and from the end.
 *
 * @returns what the pages add to their walk
 */
async function concludePages(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { kept, end, counts, contexts, informative }: Writing & WrittenRows,
): Promise<WalkAdvance> {
  const pages = kept.map(({ page }) => page);
  await recordPages(tx, operation, walk, { pages, counts });
  // Those that stored rows do not confirm.
  const jumping = new Set<number>();
  for (const { walk: context, rows } of contexts) {
    const { page_id } = context;
    if (!informative.has(page_id)) continue;
    const inserted = counts.get(page_id)?.inserted ?? 0;
    if (!(await operation.afterPage(tx, { ...context, inserted }, rows))) jumping.add(page_id);
  }
  const coverage = coverageOf(operation, walk, { pages, jumping, end });
  const said = await concludeWalk(tx, operation, walk, {
    last: pages.at(-1),
    counts,
    end,
    coverage,
  });
  const total = (count: 'inserted' | 'changed') =>
    [...counts.values()].reduce((sum, page) => sum + page[count], 0);
  return {
    ...sumOf(kept),
    ...stateAfter(end),
    ...(said !== null && { reason: said }),
    coverage,
    inserted: total('inserted'),
    changed: total('changed'),
  };
}

function stateAfter(end: WalkEnd | null): Pick<WalkAdvance, 'state' | 'failure' | 'reason'> {
  if (end === null) return { state: 'running', failure: null, reason: null };
  switch (end.is) {
    case 'end':
      return { state: 'finished', failure: null, reason: null };
    case 'bound':
      return { state: 'finished', failure: null, reason: end.bound };
    case 'failed':
      return { state: 'failed', failure: end.failure, reason: end.reason };
  }
}

function sumOf(
  kept: readonly ReadPage[],
): Omit<WalkAdvance, 'inserted' | 'changed' | 'state' | 'failure' | 'reason' | 'coverage'> {
  const pages = kept.map(({ page }) => page);
  const heights = pages.flatMap(({ top, bottom }) =>
    top === null || bottom === null ? [] : [top, bottom],
  );
  return {
    cursor: pages.at(-1)?.cursor_out ?? null,
    pages: pages.length,
    items: pages.reduce((sum, { items }) => sum + items, 0),
    quarantined: pages.reduce((sum, { quarantined }) => sum + quarantined.length, 0),
    archived_bytes: kept.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
    credits: pages.reduce((sum, { attempts }) => sum + attempts * creditsPerPage, 0),
    empty_run: kept.at(-1)?.emptyRun ?? 0,
    top: heights.length === 0 ? null : Math.max(...heights),
    bottom: heights.length === 0 ? null : Math.min(...heights),
    isOrdered: missedEntry(kept.at(-1)) || pages.every(({ isOrdered }) => isOrdered),
  };
}

/** What the pages add to the walk's coverage, if its list has an order that gives coverage. */
function coverageOf(
  { order }: Operation,
  walk: WalkRow,
  read: {
    readonly pages: readonly NormalisedPage[];
    readonly jumping: ReadonlySet<number>;
    readonly end: WalkEnd | null;
  },
): CoverageState {
  let coverage: CoverageState = { rangeTop: walk.stretch_top, covered: [], cuts: walk.cuts };
  if (order?.givesCoverage !== true) return coverage;
  for (const page of read.pages) {
    if (page.order === null || missedEntry(read)) continue;
    coverage = coverPage(coverage, {
      order: page.order,
      items: page.items,
      isNextKnown: page.cursor_out !== null && order.position(page.cursor_out) !== null,
      jumps: read.jumping.has(page.page_id),
    });
  }
  return read.end?.is === 'end' ? coverEnd(coverage) : coverage;
}
