import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { CountsByPage } from '../load/upsert.ts';
import type { Operation, PageEnd, WalkContext, WalkEndContext } from '../operations/operation.ts';
import type { ReadPage } from './fetch.ts';
import { isConclusive } from './ledger.ts';
import type { NormalisedPage } from './page.ts';
import type { WalkEnd } from './progress.ts';
import type { Proof } from './proof.ts';
import type { WalkRow } from './walk-row.ts';

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
export async function lockOrder(
  tx: Transaction,
  walk: WalkRow,
  read: readonly ReadPage[],
): Promise<void> {
  if (readDownTo(walk, read.at(-1)?.end ?? null) !== null) await lockEnds(tx, walk);
}

/**
 * Lets one walk of a feed end at a time: what each concludes rests on its neighbours' rows. Whoever
 * else changes what ends conclude takes it too, before any row.
 *
 * @param walk the feed by its name, `<chain>/<operation>`
 */
export async function lockEnds(tx: Transaction, { feed }: Pick<WalkRow, 'feed'>): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`ends of ${feed}`}, 0))`);
}

/** What an operation is told of a page that is written as part of a walk. */
export const contextOf = (
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
