import { sql, type SQL } from 'drizzle-orm';
import type { z } from 'zod';
import type { ListNames } from '../db/views.ts';
import type { FeedSettings, ListKind, ScopeBounds } from './list.ts';
import { newestFirst } from './newest-first/index.ts';
import { numbered } from './numbered/index.ts';
import type { ListKindName } from './operation.ts';
import { ranked } from './ranked/index.ts';
import { type OperationName, operations } from './registry.ts';

export const kinds: Readonly<Record<ListKindName, ListKind>> = {
  'newest-first': newestFirst,
  numbered,
  ranked,
};

export const kindOf = (operation: OperationName): ListKind => kinds[operations[operation].kind];

/** As SQL: what each kind says of a feed, a row of `feeds`; null if its kind is unknown. */
export function byKind(part: (kind: ListKind) => SQL): SQL {
  const cases = Object.values(kinds).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}

export const settingsOf = (operation: OperationName): z.ZodType<FeedSettings> =>
  kindOf(operation).settings(operations[operation]);

const countedInBlocks: ReadonlySet<keyof ScopeBounds> = new Set(['fromBlock', 'toBlock']);

/** Whether an operation's list has a bound, and counts what the bound counts. */
export const isBoundedBy = (operation: OperationName, bound: keyof ScopeBounds): boolean =>
  kindOf(operation).bounds.includes(bound) &&
  (!countedInBlocks.has(bound) || operations[operation].order?.unit === 'blocks');

export const boundsOn = (operation: OperationName, bounds: ScopeBounds): ScopeBounds =>
  Object.fromEntries(
    Object.entries(bounds).filter(([bound]) => isBoundedBy(operation, bound as keyof ScopeBounds)),
  );

/** What files of sql/ take from the declarations. */
export function listNames(): ListNames {
  const names: Record<string, ListNames[string][number][]> = {};
  for (const operation of Object.values(operations)) {
    (names[operation.kind] ??= []).push(kinds[operation.kind].sqlNames(operation));
  }
  return names;
}
