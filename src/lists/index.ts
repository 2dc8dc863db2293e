import type { ListNames } from '../db/views.ts';
import type { ListKind } from './list.ts';
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

/** What files of sql/ take from the declarations. */
export function listNames(): ListNames {
  const names: Record<string, ListNames[string][number][]> = {};
  for (const operation of Object.values(operations)) {
    (names[operation.kind] ??= []).push(kinds[operation.kind].sqlNames(operation));
  }
  return names;
}
