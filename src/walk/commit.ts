import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import { post, together, transact, type Database, type Transaction } from '../db/transaction.ts';
import { loadPages } from '../load/load.ts';
import type { CountsByPage } from '../load/upsert.ts';
import type { WrittenObservations } from '../load/written-observations.ts';
import type {
  Operation,
  PageEnd,
  ToldPage,
  WalkContext,
  WalkEndContext,
} from '../operations/operation.ts';
import { archiveBodies } from './archive.ts';
import { lockWalk, moveCheckpoint, type WalkAdvance } from './checkpoint.ts';
import { recordDrift, type NewDrift } from '../drift/record.ts';
import type { ReadPage } from './fetch.ts';
import {
  creditsPerPage,
  endBefore,
  endOf,
  isConclusive,
  recordPages,
  recordQuarantined,
} from './ledger.ts';
import type { NormalisedPage } from './page.ts';
import { cursorLoop, spellCursor, type WalkEnd } from './progress.ts';
import { proveEnd, provePage, type Proof } from './proof.ts';
import type { HeldWalk, WalkRow } from './walk-row.ts';

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

/** Cursors of the pages were used before, or not those that they were taken for. */
class UsedCursorsError extends Error {
  override readonly name = 'UsedCursorsError';
  readonly used: ReadonlySet<number>;

  constructor(used: ReadonlySet<number>) {
    super('cursors were used before in the walk');
    this.used = used;
  }
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
  toCommit: ToCommit,
): Promise<Committed> {
  const committing = (used: ReadonlySet<number>) =>
    tryToCommit(db, operation, walk, { ...toCommit, used });
  try {
    return await committing(none);
  } catch (error) {
    if (!(error instanceof UsedCursorsError)) throw error;
    return await committing(error.used);
  }
}

const none: ReadonlySet<number> = new Set();

/**
 * Writes rows before it is known that the walk is ours and which cursors it used: all is asked in one go,
 * and undone where it turns out otherwise.
 *
 * @param used which of the next cursors are taken for used
 */
async function tryToCommit(
  db: Database,
  operation: Operation,
  walk: HeldWalk,
  { read, above: known, used }: ToCommit & { readonly used: ReadonlySet<number> },
): Promise<Committed> {
  const { kept, end } = untilLoop(read, used);
  const pages = kept.map(({ page }) => page);
  const { moved, drift } = await transact(db, async (tx) => {
    // A crash of the server may take back pages, with their checkpoint and all that holds the walk. What
    // concludes something is on the disk before anybody is told.
    if (end === null) await post(tx, sql`set local synchronous_commit = off`);
    await lockOrder(tx, operation, walk, read);
    const above = known === 'unknown' ? await endBefore(tx, walk, walk.pages) : known;
    const [locked, written] = await together(
      lockWalk(
        tx,
        walk,
        read.map(({ page }) => page.cursor_out),
      ),
      writeRows(tx, operation, walk, { pages, above }),
    );
    if (!isDeepStrictEqual(locked.used, used)) throw new UsedCursorsError(locked.used);
    const moved = await concludePages(tx, operation, walk, { kept, end, ...written });
    // Entries that several walks share come last: who waits for them holds up nobody's rows.
    await recordQuarantined(tx, walk, pages);
    const bodies = kept.flatMap(({ page: { page_id }, body }) =>
      body === null ? [] : [{ page_id, body }],
    );
    const drift = await recordDrift(tx, walk, pages, locked.steady);
    await archiveBodies(tx, bodies);
    return { moved, drift };
  });
  const last = pages.at(-1);
  return {
    walk: { ...moved, incarnation: walk.incarnation },
    end,
    above: last === undefined ? null : endOf(last),
    drift: (await drift.rows).map((row) => row.drift),
  };
}

/** Pages that follow on a walk's checkpoint, and the walk's end if it comes with them. */
interface Writing {
  readonly kept: readonly ReadPage[];
  readonly end: WalkEnd | null;
  /** Of addresses, where nobody else writes them. */
  readonly written?: WrittenObservations;
}

/**
 * Writes what pages say of the list, in a transaction of the caller's: rows, ledger, conclusions,
 * checkpoint. The same for pages just read and for those of the archive.
 *
 * @returns the walk as it stands now
 */
export async function writePages(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { kept, end, written }: Writing,
): Promise<WalkRow> {
  const pages = kept.map(({ page }) => page);
  const above = operation.order?.isProof === true ? await endBefore(tx, walk, walk.pages) : null;
  const rows = await writeRows(tx, operation, walk, { pages, above, ...(written && { written }) });
  return concludePages(tx, operation, walk, { kept, end, ...rows });
}

/** What became of the rows of pages. */
interface WrittenRows {
  readonly counts: CountsByPage;
  /** The pages with what an operation is told of them, before anything was counted. */
  readonly told: readonly ToldPage[];
  /** Numbers of those pages from which something is to be concluded. */
  readonly telling: ReadonlySet<number>;
}

async function writeRows(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  {
    pages,
    above,
    written,
  }: {
    readonly pages: readonly NormalisedPage[];
    readonly above: PageEnd | null;
    readonly written?: WrittenObservations;
  },
): Promise<WrittenRows> {
  const ends = [above, ...pages.map(endOf)];
  const told = pages.map((page, at) => ({
    walk: contextOf(walk, page, new Map(), page.isJoined ? (ends[at] ?? null) : null),
    rows: page.rows,
  }));
  const [telling, counts] = await together(
    operation.tellingPages(tx, told),
    loadPages(tx, operation, pages, written),
  );
  return { counts, told, telling };
}

/**
 * Writes the ledger, lets the operation conclude from each page that tells it something, and moves the
 * checkpoint.
 */
async function concludePages(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { kept, end, counts, told, telling }: Writing & WrittenRows,
): Promise<WalkRow> {
  const pages = kept.map(({ page }) => page);
  await recordPages(tx, operation, walk, { pages, counts });
  // Those that what is stored does not bear out.
  const jumping = new Set<number>();
  for (const { walk: context, rows } of told) {
    const { page_id } = context;
    if (!telling.has(page_id)) continue;
    const inserted = counts.get(page_id)?.inserted ?? 0;
    if (!(await operation.afterPage(tx, { ...context, inserted }, rows))) jumping.add(page_id);
  }
  const proof = proofOf(operation, walk, { pages, jumping, end });
  const said = await concludeWalk(tx, operation, walk, { last: pages.at(-1), counts, end, proof });
  const total = (count: 'inserted' | 'changed') =>
    [...counts.values()].reduce((sum, page) => sum + page[count], 0);
  return moveCheckpoint(tx, walk, {
    ...sumOf(kept),
    ...stateAfter(end),
    ...(said !== null && { reason: said }),
    proof,
    inserted: total('inserted'),
    changed: total('changed'),
  });
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
  readonly proof: Pick<Proof, 'cuts'>;
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
  { last, counts, end, proof }: WalkStand,
): Promise<string | null> {
  const down = readDownTo(walk, end);
  if (down === null || last === undefined) return null;
  const isUnbroken = proof.cuts === 0 && isConclusive(last);
  const context = { ...contextOf(walk, last, counts, null), readDownTo: down, isUnbroken };
  return operation.afterWalk(tx, context satisfies WalkEndContext);
}

/** First of all, or one end that holds rows would wait for another that wants them. */
async function lockOrder(
  tx: Transaction,
  { decidesMembership }: Operation,
  walk: WalkRow,
  read: readonly ReadPage[],
): Promise<void> {
  const last = read.at(-1);
  if (readDownTo(walk, last?.end ?? null) !== null) await lockEnds(tx, walk);
  else if (decidesMembership && read.some(({ body }) => body !== null)) {
    // What is archived is replayed in one order: an end sees the pages before it, and no others.
    await post(tx, sql`select pg_advisory_xact_lock_shared(${endsOf(walk)})`);
  }
}

const endsOf = ({ feed }: Pick<WalkRow, 'feed'>) => sql`hashtextextended(${`ends of ${feed}`}, 0)`;

/**
 * Lets one walk of a feed end at a time: what each concludes rests on its neighbours' rows. Whoever
 * else changes what ends conclude takes it too, before any row.
 *
 * @param walk the feed by its name, `<chain>/<operation>`
 */
export async function lockEnds(tx: Transaction, walk: Pick<WalkRow, 'feed'>): Promise<void> {
  await post(tx, sql`select pg_advisory_xact_lock(${endsOf(walk)})`);
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
): Omit<WalkAdvance, 'inserted' | 'changed' | 'state' | 'failure' | 'reason' | 'proof'> {
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
    isOrdered: pages.every(({ isOrdered }) => isOrdered),
  };
}

/** What the pages add to the walk's proof, where its list has an order that one walk after another proves. */
function proofOf(
  { order }: Operation,
  walk: WalkRow,
  read: {
    readonly pages: readonly NormalisedPage[];
    readonly jumping: ReadonlySet<number>;
    readonly end: WalkEnd | null;
  },
): Proof {
  let proof: Proof = { stretchTop: walk.stretch_top, proved: [], cuts: walk.cuts };
  if (order?.isProof !== true) return proof;
  for (const page of read.pages) {
    if (page.order === null) continue;
    proof = provePage(proof, {
      order: page.order,
      items: page.items,
      isNextKnown: page.cursor_out !== null && order.position(page.cursor_out) !== null,
      jumps: read.jumping.has(page.page_id),
    });
  }
  return read.end?.is === 'end' ? proveEnd(proof) : proof;
}

/** What an operation is told of a page that is written as part of a walk. */
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
