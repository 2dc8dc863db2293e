import type { UserOperation } from '../../../simulator/user-operations.ts';
import { startInstantMs } from '../../../simulator/world.ts';
import type { Observations } from './observations.ts';
import { isoOf, type Row } from './row.ts';

/** Rows of the operations; notes their senders and entry points. */
export function operationRows(seen: readonly UserOperation[], observations: Observations): Row[] {
  const kept = seen.filter((operation) => !operation.lacksHash);
  for (const operation of kept) {
    observations.see(operation.sender.hash, operation.sender.shown);
    observations.see(operation.entryPoint.hash, operation.entryPoint.shown);
  }
  return kept.map(({ leftAtMs, ...operation }) => ({
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
