import { sql, type SQL } from 'drizzle-orm';
import type { z } from 'zod';
import type { KindStatus, ScopeBounds } from './list.ts';
import { newestFirstStatus } from './newest-first/status.ts';
import { numberedStatus } from './numbered/status.ts';
import type { ListKindName } from './operation.ts';
import { rankedStatus } from './ranked/status.ts';
import { type OperationName, operations } from './registry.ts';
import type { FeedSettings } from './settings.ts';

export const kindStatus: Readonly<Record<ListKindName, KindStatus>> = {
  'newest-first': newestFirstStatus,
  numbered: numberedStatus,
  ranked: rankedStatus,
};

/** As SQL: a statement of each kind, one after the other; null: this kind has none. */
export const allKinds = (part: (kind: KindStatus) => SQL | null): SQL =>
  sql.join(
    Object.values(kindStatus).flatMap((kind) => part(kind) ?? []),
    sql` union all `,
  );

export const statusOf = (operation: OperationName): KindStatus =>
  kindStatus[operations[operation].kind];

export const settingsOf = (operation: OperationName): z.ZodType<FeedSettings> =>
  statusOf(operation).settings(operations[operation]);

/** Whether an operation's list has a bound, and counts what the bound counts. */
export const isBoundedBy = (operation: OperationName, bound: keyof ScopeBounds): boolean =>
  statusOf(operation).bounds.includes(bound) &&
  (!countedInBlocks.has(bound) || operations[operation].order?.unit === 'blocks');

const countedInBlocks: ReadonlySet<keyof ScopeBounds> = new Set(['fromBlock', 'toBlock']);

export const boundsOn = (operation: OperationName, bounds: ScopeBounds): ScopeBounds =>
  Object.fromEntries(
    Object.entries(bounds).filter(([bound]) => isBoundedBy(operation, bound as keyof ScopeBounds)),
  );

/** As SQL: what each kind says of a feed, a row of `feeds`; null if its kind is unknown. */
export function byKind(part: (kind: KindStatus) => SQL): SQL {
  const cases = Object.values(kindStatus).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}
