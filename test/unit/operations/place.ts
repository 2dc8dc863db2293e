import { decodeItem } from '../../../src/lists/decode.ts';
import type { ItemRows } from '../../../src/lists/operation.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';

export const hash = (digit: string) => `0x${digit.repeat(64)}`;
export const address = (digit: string) => `0x${digit.repeat(40)}`;

/** A served item as rows of chain 10, batch 4. */
export function rowsOf(name: OperationName, raw: object): ItemRows {
  const operation = operations[name];
  const decoded = decodeItem(operation.item, raw);
  if (decoded.is === 'invalid') throw new Error(decoded.reason);
  const place = { chain_id: 10, page_id: 3, scope: { batch: 4 }, position: 0 };
  return operation.normalise(decoded, place);
}
