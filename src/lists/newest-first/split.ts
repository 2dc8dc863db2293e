import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { Feed } from '../feed.ts';
import type { ListUnit, NewestFirstWalk } from '../../operations/operation.ts';
import type { PlannedWalk } from '../list.ts';
import { walksCalledFor } from '../walks-called-for.ts';
import { isRunning, type BegunWalk } from './begun.ts';
import { believesEntries, orderOf } from './entry.ts';
import { firstOperationAt } from './estimate.ts';
import { boundsOf, type NewestFirstRun } from './scope.ts';

/** What a walk has left that is parted is this much for each part, at least, in pages. */
const shortestPart = 3;

/**
 * What seams may cost beside one request, as a part of what is known to be there to read. Where two walks
 * meet, most of a page is read twice; a position below the end of the list costs a request.
 */
const seamPart = 1 / 100;
const seamCost = 3 / 4;

/** How far below what is known of a list the next position is tried, in pages, while little is known. */
const firstStep = 100;

/** What a walk under way has yet to read. */
interface Rest {
  readonly walk: BegunWalk;
  /** Blocks. */
  readonly from: number;
  readonly to: number;
  /** About how many. */
  readonly pages: number;
}

/** What is known of a list that a run reads. */
interface Known {
  readonly begun: readonly BegunWalk[];
  /** Pages a block, as dense as what was read so far. */
  readonly density: number;
  readonly beginning: Beginning;
}

/** The block below which nothing is wanted, or none can be; `isReached`: a list goes down to it. */
interface Beginning {
  readonly height: number;
  readonly isReached: boolean;
}

/**
 * A part of what a walk under way has yet to read, for a walk of its own: it enters at a made position and
 * takes over what is below once it has arrived (`walk/arrival.ts`). There are as many walks as the key's
 * rate and the round trip call for, each about as long; when one has ended, the longest rest is parted
 * again. Where nobody knows how far a list goes back, positions are tried ever farther below what is known.
 * Null where one more walk would not pay, or the service does not serve made positions.
 */
export async function planSplit(
  tx: Transaction,
  run: NewestFirstRun,
  begun: readonly BegunWalk[],
  at: Date,
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  const density = densityOf(begun);
  if (density === null || run.scope.max_pages !== undefined) return null;
  const missing = (await walksCalledFor(tx, run)) - begun.filter(isRunning).length;
  if (missing < 1) return null;
  const { unit, topOf, cursorAt } = orderOf(run);
  const beginning = await beginningOf(tx, run, unit, run.scope.since);
  const known: Known = { begun, density, beginning };
  const rests = begun.flatMap((walk) => restOf(walk, known) ?? []);
  const pages = [...begun, ...rests].reduce((sum, part) => sum + part.pages, 0);
  const allowed = pages * seamPart - costOf(begun);
  const seam =
    (allowed < 0 ? null : farther(known, pages)) ??
    (allowed < seamCost ? null : evenly(rests, missing));
  if (seam === null || !(await believesEntries(tx, run, at))) return null;
  const entry = topOf(seam.height);
  return {
    scope: { ...boundsOf(run), entry, above: seam.walk.id },
    floor: seam.walk.floor === 0 ? null : seam.walk.floor,
    cursor: cursorAt(entry),
  };
}

/** Where a walk is parted. */
interface Seam {
  readonly walk: BegunWalk;
  readonly height: number;
}

/** Pages a block of what was read so far; null where nothing tells it yet. */
function densityOf(begun: readonly BegunWalk[]): number | null {
  const sum = { pages: 0, blocks: 0 };
  for (const { pages, top, bottom } of begun) {
    if (top === null || bottom === null) continue;
    sum.pages += pages;
    sum.blocks += top - bottom;
  }
  return sum.blocks === 0 ? null : sum.pages / sum.blocks;
}

/** What the seams of a run have cost so far, in requests. */
const costOf = (begun: readonly BegunWalk[]) =>
  begun.reduce((sum, walk) => {
    if (walk.above === null) return sum;
    return sum + (walk.pages > 0 && walk.reason !== 'nothing' ? seamCost : 1);
  }, 0);

const isOpenEnded = ({ floor }: BegunWalk, { beginning }: Known) =>
  floor === 0 && !beginning.isReached;

/** Whether a part of a walk can be given away: not while another part is, which has its bounds from it. */
const mayBeParted = (walk: BegunWalk, { begun }: Known) =>
  isRunning(walk) &&
  !walk.is_again &&
  walk.pages > 0 &&
  !begun.some((other) => isRunning(other) && other.pages === 0 && other.above === walk.id);

/** What a walk has yet to read, if it is known where that ends. */
function restOf(walk: BegunWalk, known: Known): Rest | null {
  const to = walk.bottom;
  if (!mayBeParted(walk, known) || to === null || isOpenEnded(walk, known)) return null;
  const from = Math.max(walk.floor, known.beginning.height, lowestUseful(to, known));
  return from < to ? { walk, from, to, pages: (to - from) * known.density } : null;
}

/** The highest position below a block that led to nothing, or to nothing that is wanted; 0: none did. */
const lowestUseful = (to: number, { begun }: Known) =>
  Math.max(
    0,
    ...begun.flatMap(({ entry, reason, pages }) =>
      entry !== null && entry < to && (reason === 'nothing' || (reason === 'since' && pages === 1))
        ? [entry]
        : [],
    ),
  );

/**
 * A position below all that is known, where a walk goes to an end that nobody knows: as far again as is
 * known, or half the way to where nothing is. One at a time.
 */
function farther(known: Known, pages: number): Seam | null {
  const walk = known.begun.find((each) => mayBeParted(each, known) && isOpenEnded(each, known));
  const to = walk?.bottom ?? null;
  if (walk === undefined || to === null) return null;
  const step = Math.max(firstStep, pages) / known.density;
  const limit = Math.max(known.beginning.height, lowestUseful(to, known));
  const isLimited = to - step <= limit;
  if (isLimited && (to - limit) * known.density < 2 * shortestPart) return null;
  const height = Math.floor(isLimited ? (to + limit) / 2 : to - step);
  return height > 0 ? { walk, height } : null;
}

/** The longest rest's part of one of so many walks more, the lowest. */
function evenly(rests: readonly Rest[], missing: number): Seam | null {
  const [longest] = rests.toSorted((a, b) => b.pages - a.pages);
  if (longest === undefined) return null;
  const { walk, from, to, pages } = longest;
  const parts = Math.min(missing + 1, Math.floor(pages / shortestPart));
  return parts < 2 ? null : { walk, height: from + Math.floor((to - from) / parts) };
}

/** About where a list begins that is wanted from a time on: by the pace of the stored items' blocks. */
async function beginningOf(
  tx: Transaction,
  feed: Feed,
  unit: ListUnit,
  since: string | undefined,
): Promise<Beginning> {
  // Batches are numbered from the first one on.
  if (since === undefined && unit === 'batches') return { height: 0, isReached: true };
  const first = since === undefined ? firstOperationAt : Date.parse(since);
  const { rows } = await tx.execute<{ beginning: number | null }>(sql`
    select (
      low.height - (1000 * extract(epoch from low.timestamp) - ${first}) * (high.height - low.height)
        / nullif(1000 * extract(epoch from high.timestamp - low.timestamp), 0)
    )::float8 as beginning
    from etl.item_below(${feed.chain_id}, ${feed.operation}, ${Number.MAX_SAFE_INTEGER}, 'infinity') as high,
         etl.item_above(${feed.chain_id}, ${feed.operation}, 0) as low
  `);
  const height = Math.max(0, Math.floor(rows[0]?.beginning ?? 0));
  return { height, isReached: since !== undefined && height > 0 };
}
