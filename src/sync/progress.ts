import type { Why } from '../failure.ts';
import type { Cursor, Scope } from '../lists/operation.ts';
import type { WalkRow } from '../lists/tables.ts';

/** What ends a walk before the list does; also the reason that such a walk keeps. */
const bounds = [
  'until',
  'floor',
  'since',
  'known',
  'max-pages',
  'astray',
  'nothing',
  'cursor-mismatch',
] as const;
type Bound = (typeof bounds)[number];

/** Why a walk reads no further page. */
export type WalkEnd =
  | { readonly is: 'end' }
  | { readonly is: 'bound'; readonly bound: Bound }
  | ({ readonly is: 'failed' } & Why);

/**
 * How many empty pages in a row a walk follows. An empty page with a cursor is legal, so a walk
 * goes on, but a service that hands out nothing else must not be followed for ever.
 */
const emptyPagesLimit = 100;

export const cursorLoop: WalkEnd = {
  is: 'failed',
  failure: 'cursor-loop',
  reason: 'cursor loop',
};

/** The bound that a finished walk's reason names; null where it names none. */
const boundOf = (reason: string | null): Bound | null =>
  bounds.find((bound) => bound === reason) ?? null;

/** What the decision about the next page rests on. */
export interface Progress {
  readonly cursor_in: Cursor | null;
  readonly cursor_out: Cursor | null;
  /** Why the next cursor could not be read, if it could not. */
  readonly unreadable: string | null;
  /** Pages of this walk, this one included. */
  readonly pages: number;
  /** Empty pages in a row, this one included. */
  readonly emptyRun: number;
  /** The time to which the page certainly goes back, Unix time in ms; null: not known (`back-to.ts`). */
  readonly oldestMs: number | null;
  /** The block that the page certainly reaches. */
  readonly lowest: number | null;
  /** The block that the walk goes past before it ends; null where it goes to the end. */
  readonly floor: number | null;
  /** Whether the page shows the block below which all is known, with the hash that it had. */
  readonly showsKnown: boolean;
}

/**
 * Whether a walk goes on after a page, and if not, why. Pure. A cursor that was used earlier in
 * the walk than on this page is found by the ledger when the page is committed.
 */
export function judgeProgress(scope: Scope, progress: Progress): WalkEnd | null {
  const { cursor_in, cursor_out, unreadable, pages, emptyRun, oldestMs, lowest, floor } = progress;
  if (unreadable !== null) {
    return { is: 'failed', failure: null, reason: `cursor unreadable: ${unreadable}` };
  }
  if (cursor_out === null) return { is: 'end' };
  if (sameCursor(cursor_in, cursor_out)) return cursorLoop;
  if (emptyRun >= emptyPagesLimit) {
    return { is: 'failed', failure: null, reason: `${emptyPagesLimit} empty pages in a row` };
  }
  // Before the floor: where the pages fall as they did, nothing is read twice.
  if (scope.until !== undefined && sameCursor(cursor_out, scope.until)) {
    return { is: 'bound', bound: 'until' };
  }
  // Past the floor, not at it: the floor's block may go on on the next page.
  if (floor !== null && lowest !== null && lowest < floor) {
    return { is: 'bound', bound: 'floor' };
  }
  if (scope.since !== undefined && oldestMs !== null && oldestMs < Date.parse(scope.since)) {
    return { is: 'bound', bound: 'since' };
  }
  if (progress.showsKnown) return { is: 'bound', bound: 'known' };
  if (scope.max_pages !== undefined && pages >= scope.max_pages) {
    return { is: 'bound', bound: 'max-pages' };
  }
  return null;
}

/** One spelling for one cursor, whatever the order of its fields. */
export function cursorText(cursor: Cursor | null): string {
  return JSON.stringify(Object.entries(cursor ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sameCursor(a: Cursor | null, b: Cursor | null): boolean {
  return cursorText(a) === cursorText(b);
}

/** A page as the ledger knows it. */
interface LedgerPage {
  readonly sequence: number;
  readonly cursor_out: Cursor | null;
}

/**
 * How a stored walk ended with one of its pages; null where it went on, or has not ended. A walk that
 * reached the list's end keeps what its operation said of it as its reason: that is no bound.
 */
export function endAfter(walk: WalkRow, page: LedgerPage): WalkEnd | null {
  if (page.sequence !== walk.pages - 1 || walk.state === 'running') return null;
  if (walk.state !== 'finished') {
    return { is: 'failed', failure: walk.failure, reason: walk.reason ?? '' };
  }
  const bound = boundOf(walk.reason);
  if (bound !== null) return { is: 'bound', bound };
  if (page.cursor_out === null) return { is: 'end' };
  throw new Error(`walk ${walk.id} ended for a reason unknown to this version`);
}
