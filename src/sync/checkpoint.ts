import { sql, type SQL } from 'drizzle-orm';
import { execute, type Transaction } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import type { Cursor } from '../lists/operation.ts';
import { type HeldWalk, heldWalkShape, type WalkRow } from '../lists/tables.ts';
import type { CountsByPage } from '../load/upsert.ts';
import { type CoverageState, missedEntry, type ReadPage, type WalkEnd } from './judge.ts';
import { bottomOf, topOf } from './order.ts';
import { isOrdered } from './page.ts';
import { z } from 'zod';

/** Another worker has taken the walk over; what this one had in hand must not be written. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/**
 * Locks the walk for this transaction, and finds which of `cursors` it used before. A commit that concludes nothing does not
 * wait for the disk: a crash may lose its pages, together with their checkpoint.
 * @throws FencedError if the revision is not the worker's (promise 2), or the server has crashed since the walk was taken
 */
export async function lockWalk(
  tx: Transaction,
  walk: HeldWalk,
  cursors: readonly (Cursor | null)[],
  concludes: boolean,
) {
  const row = await execute(tx).row(() =>
    z.object({
      used: z.array(z.string()),
      always_present: z.array(z.string()),
      floor: z.number().nullable(),
    }),
  )`/* lock walk */
    select array(
      select next.position - 1
      from json_array_elements(${JSON.stringify(cursors)}::json) with ordinality as next(cursor, position)
      where next.cursor::text <> 'null'
        -- A limit keeps it a look into the index for each: a join reads all pages of the walk.
        and (
          select true from etl.pages
          where walk_id = ${walk.id}
            and md5(coalesce(cursor_in, '{}')::text) = md5(next.cursor::jsonb::text)
          limit 1
        )
    ) as used, array(
      select path from etl.always_present_fields where always_present_fields.feed = walks.feed
    ) as always_present, floor::float8 as floor,
      case when ${!concludes} then set_config('synchronous_commit', 'off', true) end
    from etl.walks
    where id = ${walk.id} and revision = ${walk.revision} and state = 'running'
      -- A crash may have taken back revisions and numbers of pages, which others have been given since.
      and exists (select from etl.incarnations where id = ${walk.incarnation}::uuid)
    for update
  `;
  if (row === null) throw new FencedError(`walk ${walk.id} was taken over`);
  return {
    /** Indexes of those cursors that the walk used before. */
    used: new Set(row.used.map(Number)),
    /** Fields that were on every item of a page of the feed. */
    alwaysPresent: new Set(row.always_present),
    /** Others raise it: it is that of now. */
    floor: row.floor,
  };
}

/** What a transaction's pages add to their walk. */
export type WalkAdvance = ReturnType<typeof advanceOf> & { readonly coverage: CoverageState };

/**
 * Moves the checkpoint by compare-and-set on the walk's revision (promise 2), and the coverage of its lane with
 * it. The last statement of a page's transaction: all walks of a lane share the row of its coverage.
 * @returns the walk as it is now; a walk that takes a part of this one may have raised its stop height
 * @throws FencedError when the worker no longer holds the walk
 */
export async function moveCheckpoint(
  tx: Transaction,
  walk: HeldWalk,
  advance: WalkAdvance,
): Promise<HeldWalk> {
  const moved = await execute(tx).value(heldWalkShape)`/* checkpoint */
    with before as (
      select cuts, items, top, bottom from etl.walks where id = ${walk.id}
    ), after as (
      ${moveWalk(walk, advance)}
    ), covered as (
      ${addPages(advance)}
    )
    select to_jsonb(after) || jsonb_build_object('incarnation', ${walk.incarnation}::text) from after
  `;
  if (moved === null) throw new FencedError(`walk ${walk.id} was taken over`);
  return moved;
}

const moveWalk = ({ id, revision }: WalkRow, { coverage, ...advance }: WalkAdvance) => sql`
  update etl.walks
  set revision = revision + 1,
      cursor = ${advance.cursor === null ? null : JSON.stringify(advance.cursor)}::jsonb,
      pages = pages + ${advance.pages},
      items = items + ${advance.items},
      inserted = inserted + ${advance.inserted},
      changed = changed + ${advance.changed},
      quarantined = quarantined + ${advance.quarantined},
      archived_bytes = archived_bytes + ${advance.archived_bytes},
      credits = credits + ${advance.credits},
      empty_run = ${advance.empty_run},
      is_older = ${advance.is_older},
      top = greatest(top, ${advance.top}::bigint),
      bottom = least(bottom, ${advance.bottom}::bigint),
      is_ordered = is_ordered and ${advance.isOrdered},
      verified = verified + ${multirangeText(coverage.covered)}::int8multirange,
      range_top = ${coverage.rangeTop},
      cuts = ${coverage.cuts},
      state = ${advance.state},
      failure = ${advance.failure},
      reason = ${advance.reason},
      updated_at = now(),
      finished_at = case when ${advance.state} = 'running' then null else now() end
  where id = ${id} and revision = ${revision} and state = 'running'
  returning *
`;

/** As SQL: what a walk, `before` or `after` some pages, adds to the density of its list; out of order it adds nothing. */
const spanned = (of: SQL, walk: SQL) =>
  sql`case when ${walk}.cuts = 0 and ${walk}.top > ${walk}.bottom then ${of} else 0 end`;
const [before, after] = [sql`before`, sql`after`];

const addPages = ({ coverage, pages, inserted, archived_bytes, credits }: WalkAdvance) => sql`
  insert into etl.coverage as kept (
    feed, lane, verified, verified_at, pages, inserted, archived_bytes, credits, spanned_items,
    spanned_blocks, last_page_at
  )
  select after.feed, after.lane, ${multirangeText(coverage.covered)}::int8multirange,
         case when ${coverage.covered.length > 0} then now() end,
         ${pages}::bigint, ${inserted}::bigint, ${archived_bytes}::bigint, ${credits}::bigint,
         ${spanned(sql`after.items`, after)} - ${spanned(sql`before.items`, before)},
         ${spanned(sql`after.top - after.bottom`, after)}
           - ${spanned(sql`before.top - before.bottom`, before)},
         now()
  from before, after
  on conflict (feed, lane) do update
  set verified = kept.verified + excluded.verified,
      verified_at = greatest(kept.verified_at, excluded.verified_at),
      pages = kept.pages + excluded.pages,
      inserted = kept.inserted + excluded.inserted,
      archived_bytes = kept.archived_bytes + excluded.archived_bytes,
      credits = kept.credits + excluded.credits,
      spanned_items = kept.spanned_items + excluded.spanned_items,
      spanned_blocks = kept.spanned_blocks + excluded.spanned_blocks,
      last_page_at = greatest(kept.last_page_at, excluded.last_page_at)
`;

/** Adds rows or bytes that committed pages bring later. Runs last in its transaction; for several lanes in their order. */
export async function addToCoverage(
  tx: Transaction,
  { feed, lane }: Pick<WalkRow, 'feed' | 'lane'>,
  { inserted = 0, archived_bytes = 0 }: Partial<Pick<WalkAdvance, 'inserted' | 'archived_bytes'>>,
): Promise<void> {
  await tx.execute(sql`
    update etl.coverage
    set inserted = inserted + ${inserted}, archived_bytes = archived_bytes + ${archived_bytes}
    where feed = ${feed} and lane = ${lane}
  `);
}

/** Ranges of blocks as a Postgres multirange. */
const multirangeText = (ranges: CoverageState['covered']) =>
  `{${ranges.map(({ from, to }) => `[${from},${to}]`).join(',')}}`;

/**
 * A walk whose first page is to be committed, if it takes over a part of what others were to read: all share the rest of
 * `first`, and those that entered above its `height` are above it.
 */
export function arrivingWalk(walk: WalkRow) {
  const { remainder_of: first, entry } = walk.scope;
  if (walk.pages > 0 || first === undefined || entry === undefined) return null;
  return { walk, first, height: entry.height };
}

type Arriving = NonNullable<ReturnType<typeof arrivingWalk>>;

/** As SQL: the other walks that share a remainder with one. */
const sharing = ({ walk: { id, run_id }, first }: Arriving) => sql`
  run_id = ${run_id} and id <> ${id} and (id = ${first} or (scope ->> 'remainder_of')::bigint = ${first})
`;

const entryHeight = sql`(scope -> 'entry' ->> 'height')::bigint`;

/** As SQL: those of them that are to end where a walk takes over, at a block. */
const higherWalks = (arriving: Arriving, block: number) => sql`
  ${sharing(arriving)}
  and state = 'running'
  and (id = ${arriving.first} or ${entryHeight} > ${arriving.height})
  and coalesce(floor, 0) < ${block}
`;

/**
 * Locks the walks above before any other row: each walk's own commit locks its row first. Hand-offs come one at a time, in any
 * order: if walks below have read a page already, this one gets the top of the highest as its stop height.
 */
export async function beginHandOff(tx: Transaction, arriving: Arriving): Promise<void> {
  const { walk, first, height } = arriving;
  await tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`arrivals beside walk ${first}`}, 0))`,
  );
  await tx.execute(
    sql`select from etl.walks where ${higherWalks(arriving, height)} order by id for no key update`,
  );
  await tx.execute(sql`
    update etl.walks
    set floor = below.top
    from (
      select max(top) as top
      from etl.walks
      where ${sharing(arriving)}
        and ${entryHeight} < ${height}
        and (reason is null or reason not in ('misplaced-entry', 'empty-entry'))
    ) as below
    where id = ${walk.id} and coalesce(floor, 0) < below.top
  `);
}

/**
 * The block where an arriving walk takes over; null: nowhere. One item alone shows that the list goes on, too, although
 * nothing confirms its number.
 */
function arrivalOf([first]: readonly ReadPage[]): number | null {
  const order = first?.page.order ?? null;
  if (order === null || missedEntry(first)) return null;
  return topOf(order) ?? bottomOf(order)?.height ?? null;
}

/** Lets a walk that has arrived take over: those above it end past the block that it returns; null: it has not arrived. */
export async function handOff(
  tx: Transaction,
  arriving: Arriving,
  kept: readonly ReadPage[],
): Promise<number | null> {
  const top = arrivalOf(kept);
  if (top === null) return null;
  await tx.execute(sql`update etl.walks set floor = ${top} where ${higherWalks(arriving, top)}`);
  return top;
}

/**
 * Takes back what walks above covered from their last item down, if they took it for the list's end before this walk arrived
 * below it, at block `top`. Runs after the checkpoint, which has locked the coverage.
 */
export async function withdrawEnds(
  tx: Transaction,
  arriving: Arriving,
  top: number,
): Promise<void> {
  const isFallen = await execute(tx).has`
    update etl.walks
    set verified = verified - int8multirange(int8range(0, bottom, '[]'))
    where ${sharing(arriving)}
      and state = 'finished'
      and reason is null
      and bottom > ${top}
      and (id = ${arriving.first} or ${entryHeight} > ${arriving.height})
    returning id
  `;
  if (!isFallen) return;
  await tx.execute(sql`
    update etl.coverage as kept
    set verified = walked.verified
    from etl.ledger_coverage as walked
    where kept.feed = ${arriving.walk.feed} and walked.feed = kept.feed and walked.lane = kept.lane
  `);
}

/** What pages add to their walk, and its state after them. */
export function advanceOf(kept: readonly ReadPage[], counts: CountsByPage, end: WalkEnd | null) {
  const pages = kept.map(({ page }) => page);
  const sum = (of: (read: ReadPage) => number) => kept.reduce((total, read) => total + of(read), 0);
  const counted = (what: 'inserted' | 'changed') =>
    sum(({ page }) => counts.get(page.page_id)?.[what] ?? 0);
  const heights = pages.flatMap(({ order }) => {
    const [top, bottom] = [order && topOf(order), bottomOf(order)];
    return top === null || bottom === null ? [] : [top, bottom.height];
  });
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
    is_older: kept.at(-1)?.isOlder ?? false,
    top: heights.length === 0 ? null : Math.max(...heights),
    bottom: heights.length === 0 ? null : Math.min(...heights),
    isOrdered: missedEntry(kept.at(-1)) || pages.every(isOrdered),
    ...stateAfter(end),
  };
}

function stateAfter(end: WalkEnd | null): Pick<WalkRow, 'state' | 'failure' | 'reason'> {
  if (end?.is === 'failed') return { state: 'failed', failure: end.failure, reason: end.reason };
  const reason = end?.is === 'bound' ? end.bound : null;
  return { state: end === null ? 'running' : 'finished', failure: null, reason };
}
