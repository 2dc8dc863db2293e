import type { Transaction } from '../db/transaction.ts';
import { loadPages } from '../load/load.ts';
import type { CountsByPage } from '../load/upsert.ts';
import type { Operation, PageEnd, ToldPage } from '../operations/operation.ts';
import { hasStrayed } from './arrival.ts';
import { moveCheckpoint, type WalkAdvance } from './checkpoint.ts';
import { concludeWalk, contextOf } from './conclude.ts';
import type { ReadPage } from './fetch.ts';
import { creditsPerPage, endBefore, endOf, recordPages } from './ledger.ts';
import type { NormalisedPage } from './page.ts';
import type { WalkEnd } from './progress.ts';
import { proveEnd, provePage, type Proof } from './proof.ts';
import type { WalkRow } from './walk-row.ts';

/** Pages that follow on a walk's checkpoint, and the walk's end if it comes with them. */
interface Writing {
  readonly kept: readonly ReadPage[];
  readonly end: WalkEnd | null;
}

/** Where the page before ended, in a list whose pages prove something of what is between them. */
export const endAbove = async (tx: Transaction, { order }: Operation, walk: WalkRow) =>
  order?.isProof === true ? endBefore(tx, walk, walk.pages) : null;

/** What became of the rows of pages. */
interface WrittenRows {
  readonly counts: CountsByPage;
  /** The pages with what an operation is told of them, before anything was counted. */
  readonly told: readonly ToldPage[];
  /** Numbers of those pages from which something is to be concluded. */
  readonly telling: ReadonlySet<number>;
}

export async function writeRows(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  { pages, above }: { readonly pages: readonly NormalisedPage[]; readonly above: PageEnd | null },
): Promise<WrittenRows> {
  const ends = [above, ...pages.map(endOf)];
  const told = pages.map((page, at) => ({
    walk: contextOf(walk, page, new Map(), page.isJoined ? (ends[at] ?? null) : null),
    rows: page.rows,
  }));
  const telling = await operation.tellingPages(tx, told);
  const counts = await loadPages(tx, operation, pages);
  return { counts, told, telling };
}

/**
 * Writes the ledger, lets the operation conclude from each page that tells it something, and moves the
 * checkpoint.
 */
export async function concludePages(
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
    isOrdered: hasStrayed(kept.at(-1)) || pages.every(({ isOrdered }) => isOrdered),
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
    if (page.order === null || hasStrayed(read)) continue;
    proof = provePage(proof, {
      order: page.order,
      items: page.items,
      isNextKnown: page.cursor_out !== null && order.position(page.cursor_out) !== null,
      jumps: read.jumping.has(page.page_id),
    });
  }
  return read.end?.is === 'end' ? proveEnd(proof) : proof;
}
