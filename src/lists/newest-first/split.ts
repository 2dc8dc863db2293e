import { execute, type Queryable } from '../../db/transaction.ts';
import { type Feed, walksCalledFor } from '../feed.ts';
import type { ListUnit, OrderKey } from '../operation.ts';
import { believesEntries } from './gaps.ts';
import {
  type BegunWalk,
  boundsOf,
  firstOperationAt,
  isWalkRunning,
  type Planned,
  type Planning,
} from './run.ts';
import { z } from 'zod';

/** The least that each part of a walk's remainder has, in pages. */
const shortestPart = 3;

/**
 * What range boundaries may cost beside one request, as a part of what is known to be there. Two walks that meet read most of
 * a page twice, and the first page at a position is requested once more.
 */
const boundaryPart = 1 / 100;
const boundaryCost = 7 / 4;

/** How many pages below the known part the next position is tried, while little is known. */
const firstStep = 100;

/** How many pages farther the second position is: at this depth a boundary for each walk pays. */
const secondStep = 1500;

/** Positions that may lead nowhere, whatever is known of a list; as many are tried before one was served. */
const freeTries = 2;

/** What a walk under way has yet to read: blocks, and about how many pages. */
interface Remainder {
  readonly walk: BegunWalk;
  readonly from: number;
  readonly to: number;
  readonly pages: number;
  /** Whether it is known that the list goes on below; else about half of the blocks have something. */
  readonly isSure: boolean;
}

interface Known {
  readonly begun: readonly BegunWalk[];
  /** Pages a block, as dense as what was read so far. */
  readonly density: number;
  /** The lowest block that is requested or can exist; `isReached`: the list reaches it. */
  readonly beginning: { readonly height: number; readonly isReached: boolean };
}

type Boundary = Pick<Remainder, 'walk'> & Pick<OrderKey, 'height'>;

/**
 * A part of another walk's remainder, for a walk that enters at a synthetic cursor (`sync/checkpoint.ts`).
 * Parts are about equal; while the list's depth is unknown, positions go ever farther down. Null:
 * one more walk would not pay, or the service serves no synthetic cursors.
 */
export async function planSplit({ list, tx, run, begun, at }: Planning): Planned {
  const density = densityOf(begun);
  if (density === null || run.scope.max_pages !== undefined) return null;
  const missing = (await walksCalledFor(tx, run)) - begun.filter(isWalkRunning).length;
  if (missing < 1) return null;
  const { unit, topOf, cursorAt } = list.order;
  const beginning = await beginningOf(tx, run, unit, run.scope.since);
  const boundary = nextBoundary({ begun, density, beginning }, missing);
  if (boundary === null || !(await believesEntries(tx, run, at))) return null;
  const { walk, height } = boundary;
  const entry = topOf(height);
  return {
    scope: { ...boundsOf(run), entry, remainder_of: firstOf(walk) },
    floor: walk.floor || null,
    cursor: cursorAt(entry),
  };
}

/** Where the next of the `missing` walks enters; null: it would not pay. */
function nextBoundary(known: Known, missing: number): Boundary | null {
  const { begun, density } = known;
  const entered = begun.filter(({ remainder_of }) => remainder_of !== null);
  const isServed = entered.some(({ pages }) => pages > 0);
  if (!isServed && entered.filter(isWalkRunning).length >= freeTries) return null;
  const all = begun.flatMap((walk) => remainderOf(walk, known) ?? []);
  const remainders = all.filter(({ isSure }) => isSure);
  const lowest = all.find(({ isSure }) => !isSure) ?? null;
  // A position that is tried shows first whether the list goes down to it.
  const open = lowest?.walk.pages === 0 && entered.length > 1 ? null : lowest;
  const sure = [...begun, ...remainders].reduce((sum, { pages }) => sum + pages, 0);
  const cost = entered.reduce(
    (sum, { pages, reason }) => sum + (pages > 0 && reason !== 'empty-entry' ? boundaryCost : 1),
    0,
  );
  const step = (open?.walk.pages === 0 ? secondStep : Math.max(firstStep, sure)) / density;
  const isLimited = open !== null && open.to - step <= open.from;
  const mayFail = cost < freeTries || cost <= sure * boundaryPart;
  if (open !== null && mayFail && (!isLimited || cost < freeTries)) {
    const boundary = farther(open, isLimited ? null : step);
    if (boundary !== null) return boundary;
  }
  if (sure * boundaryPart - cost < boundaryCost) return null;
  return evenly(isLimited && open.walk.pages > 0 ? [...remainders, open] : remainders, missing);
}

/** Pages a block of what was read so far; null: unknown yet. */
function densityOf(begun: readonly BegunWalk[]): number | null {
  const sum = { pages: 0, blocks: 0 };
  for (const { pages, top, bottom } of begun) {
    if (top === null || bottom === null) continue;
    sum.pages += pages;
    sum.blocks += top - bottom;
  }
  return sum.blocks === 0 ? null : sum.pages / sum.blocks;
}

/** The walk whose remainder it shares with others. */
const firstOf = ({ remainder_of, id }: BegunWalk) => remainder_of ?? id;

/**
 * What a walk has yet to read: down to the next walk below, handed off or not; if none is known, as far as the list
 * may go. Null: another walk has to find that out, or nothing is left.
 */
function remainderOf(walk: BegunWalk, { begun, density, beginning }: Known): Remainder | null {
  const to = walk.bottom ?? walk.entry;
  // The first walk has to read a page before others share it.
  const mayBeParted =
    isWalkRunning(walk) && !walk.is_again && (walk.pages > 0 || walk.remainder_of !== null);
  if (!mayBeParted || to === null) return null;
  const entered = begun.filter(({ entry }) => entry !== null && entry < to);
  const below = entered.filter((other) => isWalkRunning(other) && firstOf(other) === firstOf(walk));
  const isSure = walk.floor > 0 || beginning.isReached || below.some(({ pages }) => pages > 0);
  if (!isSure && below.length > 0) return null;
  const ledNowhere = entered.filter(({ reason }) => reason === 'empty-entry');
  const from = Math.max(
    walk.floor,
    beginning.height,
    ...[...below, ...ledNowhere].map(({ entry }) => entry ?? 0),
  );
  const pages = (to - from) * density;
  return from < to ? { walk, from, to, pages: isSure ? pages : pages / 2, isSure } : null;
}

/** A position `step` pages below the known part, or halfway to where nothing is listed. */
function farther({ walk, from, to, pages }: Remainder, step: number | null): Boundary | null {
  if (step === null && pages < shortestPart) return null;
  const height = Math.floor(step === null ? (to + from) / 2 : to - step);
  return height > 0 ? { walk, height } : null;
}

/** The lowest part of the longest range, so that all walks have about as much to read. */
function evenly(remainders: readonly Remainder[], missing: number): Boundary | null {
  const [longest] = remainders.toSorted((a, b) => b.pages - a.pages);
  if (longest === undefined) return null;
  const { walk, from, to, pages, isSure } = longest;
  const all = remainders.reduce((sum, { pages: left }) => sum + left, 0);
  const fair = Math.round((pages * (remainders.length + missing)) / all);
  const parts = Math.min(isSure ? Math.max(2, fair) : 2, Math.floor(pages / shortestPart));
  return parts < 2 ? null : { walk, height: from + Math.floor((to - from) / parts) };
}

/** About where a list begins from a time on, by the pace of the stored items' blocks. */
async function beginningOf(
  tx: Queryable,
  feed: Feed,
  unit: ListUnit,
  since: string | undefined,
): Promise<Known['beginning']> {
  // Batches are numbered from the first one on.
  if (since === undefined && unit === 'batches') return { height: 0, isReached: true };
  const first = since === undefined ? firstOperationAt : Date.parse(since);
  const beginning = await execute(tx).value(z.number)`
    select (
      low.height - (1000 * extract(epoch from low.timestamp) - ${first}) * (high.height - low.height)
        / nullif(1000 * extract(epoch from high.timestamp - low.timestamp), 0)
    )::float8 as beginning
    from etl.newest_item(${feed.chain_id}, ${feed.operation}) as high,
         etl.items_above(${feed.chain_id}, ${feed.operation}, 0) as low
  `;
  const height = Math.max(0, Math.floor(beginning ?? 0));
  return { height, isReached: since !== undefined && height > 0 };
}
