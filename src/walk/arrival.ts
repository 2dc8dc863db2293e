import { sql } from 'drizzle-orm';
import { post, type Transaction } from '../db/transaction.ts';
import type { ReadPage } from './fetch.ts';
import type { WalkRow } from './walk-row.ts';

/** The walk above one whose first page is to be committed, if it takes over a part of it. */
export const walkAbove = ({ scope, pages }: WalkRow): number | null =>
  pages === 0 ? (scope.above ?? null) : null;

/** Before the walk's own row: a walk above is always the older one, so all lock in one order. */
export async function lockAbove(tx: Transaction, above: number): Promise<void> {
  await tx.execute(sql`select from etl.walks where id = ${above} for no key update`);
}

/**
 * Lets a walk that has arrived take over: the one above it ends past the highest block that this one's
 * first page bears out, so that no block at the seam is left to neither. Where it has not arrived, the
 * one above reads on as if there were no other.
 */
export async function takeOver(
  tx: Transaction,
  above: number,
  [first]: readonly ReadPage[],
): Promise<void> {
  const top = first?.page.top ?? null;
  if (top === null || hasStrayed(first)) return;
  await post(
    tx,
    sql`
    update etl.walks set floor = ${top}
    where id = ${above} and state = 'running' and coalesce(floor, 0) < ${top}
  `,
  );
}

/** Whether a walk ends with a page because it is not the one that was asked for: it says nothing of the list. */
export const hasStrayed = (read: Pick<ReadPage, 'end'> | undefined): boolean =>
  read?.end?.is === 'bound' && read.end.bound === 'astray';
