import type { World } from './chain.ts';
import type { Row } from './row.ts';
import type { Sightings } from './sightings.ts';
import { userOperationAt, type UserOperation } from './user-operations.ts';

/** The newest operations of the chain, newest first; all if no number is given. */
export function operationsInScope(world: World, newest = Infinity): UserOperation[] {
  const { userOperations } = world.chain;
  return Array.from({ length: Math.min(newest, userOperations) }, (_, place) =>
    userOperationAt(world, userOperations - 1 - place),
  );
}

/** Rows of the operations; notes their senders and entry points. */
export function operationRows(operations: readonly UserOperation[], sightings: Sightings): Row[] {
  const kept = operations.filter((operation) => !operation.lacksHash);
  for (const { sender, entryPoint } of kept) {
    sightings.see(sender.hash, sender.shown);
    sightings.see(entryPoint.hash, entryPoint.shown);
  }
  return kept.map((operation) => ({
    hash: operation.hash,
    address_hash: operation.sender.hash,
    entry_point_hash: operation.entryPoint.hash,
    entry_point_version: operation.entryPointVersion,
    block_number: operation.blockNumber,
    transaction_hash: operation.transactionHash,
    fee: operation.fee,
    status: operation.status,
    timestamp:
      operation.timestampMs === null ? null : new Date(operation.timestampMs).toISOString(),
    removed_at: null,
    extra: operation.extra,
  }));
}
