import { operationNames } from '../operations/index.ts';

/** By chain, and lists as everywhere else. */
export const inOrder = <Of extends { readonly chain_id: number; readonly operation: string }>(
  feeds: readonly Of[],
): Of[] =>
  feeds.toSorted(
    (one, other) =>
      one.chain_id - other.chain_id || placeOf(one.operation) - placeOf(other.operation),
  );

const placeOf = (operation: string): number =>
  operationNames.findIndex((name) => name === operation);
