import type { Cursor } from '../operations/operation.ts';
import { boundOf, type WalkEnd } from './progress.ts';
import type { WalkRow } from './walk-row.ts';

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
