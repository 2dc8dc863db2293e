import { sql } from 'drizzle-orm';
import {
  execute,
  type Database,
  type Queryable,
  transact,
  type Transaction,
} from '../db/transaction.ts';
import { recordDrift } from '../drift/drift.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { lockEnds } from '../lists/feed.ts';
import { decidesMembership, kindOf } from '../lists/index.ts';
import {
  type Operation,
  type PageEnd,
  type PageInWalk,
  type WalkContext,
  pageEndShape,
} from '../lists/operation.ts';
import type { HeldWalk, WalkRow } from '../lists/tables.ts';
import { loadPages } from '../load/load.ts';
import { type CountsByPage, shapeOf } from '../load/upsert.ts';
import { signals } from '../signals.ts';
import { archiveBodies } from './archive.ts';
import {
  advanceOf,
  arrivingWalk,
  FencedError,
  handOff,
  beginHandOff,
  lockWalk,
  moveCheckpoint,
  withdrawEnds,
} from './checkpoint.ts';
import {
  concludesTo,
  coverPages,
  cursorLoop,
  cursorText,
  identityOf,
  type ReadPage,
  type WalkEnd,
} from './judge.ts';
import { bottomOf, joins, misplacedIn, topOf, withoutPlace } from './order.ts';
import { isOrdered, type NormalisedPage } from './page.ts';
import { z } from 'zod';

/** Pages to commit, and where the page before them ended if it was conclusive. */
interface ToCommit {
  readonly read: readonly ReadPage[];
  readonly previousLast: PageEnd | null;
}

/**
 * Commits pages whole: rows, ledger entries, coverage and the walk's checkpoint, in one transaction (promise 1). A page whose
 * next cursor was used before is kept, and ends its walk: the list goes round in circles.
 * @returns the walk as it is now, its end if it has come, and drift that the feed had not shown before
 * @throws FencedError when the walk was taken over; nothing is written then
 */
export async function commitPages(
  db: Database,
  operation: Operation,
  walk: HeldWalk,
  toCommit: ToCommit,
) {
  const begun = performance.now();
  const { counts, advance, ...committed } = await transact(db, (tx) =>
    commitPagesIn(tx, operation, walk, toCommit),
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

/** Lock, rows, ledger, coverage, checkpoint, in this order. What several walks share comes last. */
async function commitPagesIn(
  tx: Transaction,
  operation: Operation,
  walk: HeldWalk,
  { read, previousLast }: ToCommit,
) {
  const announced = read.at(-1)?.end ?? null;
  // Before any row lock, or two ends could deadlock.
  if (readDownTo(walk, announced) !== null) await lockEnds(tx, walk);
  const arriving = arrivingWalk(walk);
  if (arriving !== null) await beginHandOff(tx, arriving);
  const cursors = read.map(({ page }) => page.cursor_out);
  const isEnding = announced !== null;
  const { used, alwaysPresent, floor } = await lockWalk(tx, walk, cursors, isEnding);
  if (announced?.is === 'end' && floor !== walk.floor) {
    throw new FencedError(`walk ${walk.id} has got a stop height since its end was judged`);
  }
  const { kept, end } = untilLoop(read, used);
  // The end of a walk waits for the disk: others rely on it.
  if (end !== null && !isEnding) {
    await tx.execute(sql`set local synchronous_commit to default`);
  }

  const pages = kept.map(({ page }) => page);
  let counts: CountsByPage = new Map();
  const contexts = contextsOf(walk, pages, previousLast);
  const refuted = await kindOf(walk.operation).writePages(tx, contexts, async () => {
    counts = await loadPages(tx, operation, pages);
    await recordPages(tx, walk, { pages, counts });
    return counts;
  });
  const believed = pages.map((page) =>
    page.order !== null && refuted.has(page.page_id)
      ? { ...page, order: withoutPlace(page.order) }
      : page,
  );
  const coverage = coverPages(operation.order, walk, { pages: believed, end });
  const last = pages.at(-1);
  const state = { end, cuts: coverage.cuts };
  const remark = last ? await concludeWalk(tx, walk, evidenceOf(last), state) : null;
  const arrivedAt = arriving === null ? null : await handOff(tx, arriving, kept);

  await archiveBodies(tx, kept);
  await recordQuarantined(tx, walk, pages);
  const drift = await recordDrift(tx, walk, pages, alwaysPresent);
  const advance = advanceOf(kept, counts, end);
  const reason = remark ?? advance.reason;
  const moved = await moveCheckpoint(tx, walk, { ...advance, reason, coverage });
  if (arriving !== null && arrivedAt !== null) await withdrawEnds(tx, arriving, arrivedAt);
  return {
    walk: moved,
    end,
    /** Where its last page ends, for the next one. */
    previousLast: last === undefined ? null : endOf(last),
    drift,
    counts,
    advance,
  };
}

/** The pages up to the first one whose next cursor was used before, in the ledger or in this transaction. */
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
function readDownTo(walk: WalkRow, end: WalkEnd | null): number | null {
  if (end?.is === 'end') return concludesTo(walk);
  return end?.is === 'bound' && end.bound === 'known' ? (walk.scope.known?.height ?? null) : null;
}

/** A page from which something may be concluded. */
type PageEvidence = Pick<WalkContext, 'page_id' | 'cursor' | 'isConclusive'>;

/** Lets the list conclude from a walk that has read it whole. Returns why the walk says less than that, or null. */
export async function concludeWalk(
  tx: Transaction,
  walk: WalkRow,
  page: PageEvidence,
  { end, cuts }: { readonly end: WalkEnd | null; readonly cuts: number },
): Promise<string | null> {
  const down = readDownTo(walk, end);
  if (down === null) return null;
  const isUnbroken = cuts === 0 && page.isConclusive;
  const context = { ...contextOf(walk, page), previousLast: null, readDownTo: down, isUnbroken };
  return kindOf(walk.operation).afterWalk(tx, context);
}

const contextOf = (walk: WalkRow, page: PageEvidence) => ({
  ...identityOf(walk),
  as_of: walk.as_of,
  floor: walk.floor,
  ...page,
});

/** The pages with their context, before anything was counted; each one with the end of the page before it. */
function contextsOf(
  walk: WalkRow,
  pages: readonly NormalisedPage[],
  before: PageEnd | null,
): PageInWalk[] {
  const ends = [before, ...pages.map(endOf)];
  return pages.map((page, at) => {
    const previousLast = page.order !== null && !joins(page.order) ? null : (ends[at] ?? null);
    const { rows, quarantined } = page;
    const top = rows[0]?.position ?? Infinity;
    const isTopRead = quarantined.every(({ position }) => position > top);
    return { walk: { ...contextOf(walk, evidenceOf(page)), previousLast }, rows, isTopRead };
  });
}

async function recordPages(
  tx: Transaction,
  walk: WalkRow,
  { pages, counts }: { readonly pages: readonly NormalisedPage[]; readonly counts: CountsByPage },
): Promise<void> {
  const entries = pages.map((page) => {
    const { page_id: id, rows, quarantined, isEndReported, order, driftReport: _, ...facts } = page;
    const { inserted = 0, changed = 0 } = counts.get(id) ?? {};
    return {
      ...facts,
      ...placesOf(order),
      id,
      walk_id: walk.id,
      feed: walk.feed,
      rows: rows.length,
      quarantined: quarantined.length,
      inserted,
      changed,
      heights: decidesMembership(walk.operation) ? heightsText(page) : null,
      is_end_reported: isEndReported,
      credits: page.attempts * creditsPerRequest,
    };
  });
  const columns = sql.raw(Object.keys(entries[0] ?? {}).join(', '));
  await tx.execute(sql`/* ledger */
    insert into etl.pages (${columns})
    select ${columns}
    from json_populate_recordset(null::etl.pages, ${JSON.stringify(entries)}::json)
  `);
}

/** What the ledger keeps of a page's order. A page out of order without `misplaced` is no page of its place. */
function placesOf(order: NormalisedPage['order']) {
  const [last, misplaced] = [bottomOf(order), misplacedIn(order)];
  return {
    top: order === null ? null : topOf(order),
    bottom: last?.height ?? null,
    last_key: last?.key ?? null,
    is_ordered: isOrdered({ order }),
    misplaced: misplaced === 'all' || misplaced.length === 0 ? null : misplaced,
  };
}

/** The heights of a page's rows as a multirange: usually one range. */
export function heightsText({ rows }: Pick<NormalisedPage, 'rows'>): string {
  const heights = rows.flatMap(({ height }) => height ?? []).toSorted((a, b) => a - b);
  const starts = heights.filter((height, place) => heights[place - 1] !== height - 1);
  const ends = heights.filter((height, place) => heights[place + 1] !== height + 1);
  return `{${starts.map((start, place) => `[${start},${ends[place]}]`).join(',')}}`;
}

/** Where a page's items end, for comparison with the next page. */
function endOf(page: NormalisedPage): PageEnd | null {
  const last = bottomOf(page.order);
  return last === null || !page.isEndReported || !evidenceOf(page).isConclusive
    ? null
    : { page_id: page.page_id, height: last.height, key: last.key };
}

const evidenceOf = (page: NormalisedPage): PageEvidence => ({
  page_id: page.page_id,
  cursor: page.cursor_in,
  isConclusive: isOrdered(page) && page.quarantined.length === 0,
});

/** Where a walk's last page with items ended, by the ledger; null: unknown. */
export const lastPage = (db: Queryable, { id, pages, empty_run }: WalkRow) =>
  execute(db).row(() => pageEndShape().extend({ isConclusive: z.boolean() }))`
    select id::float8 as page_id, bottom::float8 as height, last_key as key,
           is_ordered and is_end_reported and quarantined = 0 as "isConclusive"
    from etl.pages
    where walk_id = ${id} and sequence = ${pages - empty_run - 1}
      and last_key is not null and bottom is not null
  `;

/** Stores items that are no rows. The same item met again is the same entry. */
async function recordQuarantined(
  tx: Transaction,
  walk: WalkRow,
  pages: readonly NormalisedPage[],
): Promise<void> {
  const entries = pages.flatMap((page) =>
    page.quarantined.map((item) => ({
      chain_id: walk.chain_id,
      operation: walk.operation,
      scope: walk.scope.batch === undefined ? {} : { batch: walk.scope.batch },
      ...item,
      page_id: page.page_id,
    })),
  );
  if (entries.length === 0) return;
  await tx.execute(sql`
    insert into etl.quarantine as t (
      chain_id, operation, scope, raw, raw_hash, reason, position, from_block, to_block, page_id,
      last_page_id
    )
    select distinct on (raw_hash)
           -- An item that is null is an item too.
           chain_id, operation, scope, coalesce(raw, 'null'), raw_hash, reason,
           first_value(position) over (equal order by page_id desc),
           case when to_block is not null
             then min(coalesce(from_block, 0)) filter (where to_block is not null) over equal end,
           case when to_block is not null then max(to_block) over equal end,
           page_id, max(page_id) over equal
    from json_populate_recordset(null::etl.quarantine, ${JSON.stringify(entries)}::json)
    window equal as (partition by raw_hash)
    order by raw_hash, page_id
    on conflict (feed, raw_hash, md5(scope::text)) do update
    set last_page_id = greatest(t.last_page_id, excluded.last_page_id),
        position = case when t.last_page_id > excluded.last_page_id then t.position
                        else excluded.position end,
        -- Neighbours that came since show how far away it may be; a page that belongs nowhere shows nothing.
        from_block = case when excluded.to_block is null then t.from_block
                          else least(coalesce(t.from_block, 0), coalesce(excluded.from_block, 0)) end,
        to_block = case when t.to_block is not null then greatest(t.to_block, excluded.to_block) end,
        -- An equal one elsewhere is another item than the one that a person dropped.
        dropped_at = case when excluded.to_block < t.from_block or excluded.from_block > t.to_block then null
                          else t.dropped_at end
  `);
}
