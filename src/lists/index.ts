import { sql, type SQL } from 'drizzle-orm';
import type { z } from 'zod';
import type { ListNames } from '../db/views.ts';
import type { ListKind, ScopeBounds } from './list.ts';
import { newestFirst } from './newest-first/index.ts';
import { numbered } from './numbered/index.ts';
import type { ListKindName } from './operation.ts';
import { ranked } from './ranked/index.ts';
import { type OperationName, operations } from './registry.ts';
import type { FeedSettings } from './settings.ts';

export const kinds: Readonly<Record<ListKindName, ListKind>> = {
  'newest-first': newestFirst,
  numbered,
  ranked,
};

export const settingsOf = (operation: OperationName): z.ZodType<FeedSettings> =>
  kindOf(operation).settings(operations[operation]);

/** Whether an operation's list has a bound, and counts what the bound counts. */
export const isBoundedBy = (operation: OperationName, bound: keyof ScopeBounds): boolean =>
  kindOf(operation).bounds.includes(bound) &&
  (!countedInBlocks.has(bound) || operations[operation].order?.unit === 'blocks');

const countedInBlocks: ReadonlySet<keyof ScopeBounds> = new Set(['fromBlock', 'toBlock']);

export const boundsOn = (operation: OperationName, bounds: ScopeBounds): ScopeBounds =>
  Object.fromEntries(
    Object.entries(bounds).filter(([bound]) => isBoundedBy(operation, bound as keyof ScopeBounds)),
  );

export const kindOf = (operation: OperationName): ListKind => kinds[operations[operation].kind];

/** What files of sql/ take from the declarations. */
export const listNames = (): ListNames =>
  Object.fromEntries(
    Object.values(kinds).map(({ name, sqlNames }) => [
      name,
      Object.values(operations)
        .filter(({ kind }) => kind === name)
        .map(sqlNames),
    ]),
  );

/** As SQL: what each kind says of a feed, a row of `feeds`; null if its kind is unknown. */
export function byKind(part: (kind: ListKind) => SQL): SQL {
  const cases = Object.values(kinds).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}
