import type { World } from '../../simulator/chain.ts';
import { isoOf, startInstantMs } from '../../simulator/instant.ts';
import { operationsSeen, type SeenOperation } from '../../simulator/moving-operations.ts';
import type { Row } from './row.ts';
import type { Observations } from './observations.ts';
import { userOperationAt } from '../../simulator/user-operations.ts';

/**
 * The newest operations of the chain, newest first; all if no number is given. Those that have left
 * the list count where they stood.
 */
export function operationsInScope(
  world: World,
  atMs: number,
  newest = Infinity,
): readonly SeenOperation[] {
  const { chain, course } = world;
  if (course !== null) return operationsSeen(world, course, atMs).slice(0, newest);
  const { userOperations } = chain;
  return Array.from({ length: Math.min(newest, userOperations) }, (_, place) => ({
    operation: userOperationAt(world, userOperations - 1 - place),
    leftAtMs: null,
  }));
}

/** Rows of the operations; notes their senders and entry points. */
export function operationRows(seen: readonly SeenOperation[], observations: Observations): Row[] {
  const kept = seen.filter(({ operation }) => !operation.lacksHash);
  for (const { operation } of kept) {
    observations.see(operation.sender.hash, operation.sender.shown);
    observations.see(operation.entryPoint.hash, operation.entryPoint.shown);
  }
  return kept.map(({ operation, leftAtMs }) => ({
    hash: operation.hash,
    address_hash: operation.sender.hash,
    entry_point_hash: operation.entryPoint.hash,
    entry_point_version: operation.entryPointVersion,
    block_number: operation.blockNumber,
    transaction_hash: operation.transactionHash,
    fee: operation.fee,
    status: operation.status,
    timestamp: isoOf(operation.timestampMs),
    removed_at: isoOf(leftAtMs === null ? null : startInstantMs + leftAtMs),
    extra: operation.extra,
  }));
}
