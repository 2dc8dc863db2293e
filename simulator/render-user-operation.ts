import type { World } from './chain.ts';
import { printInstant } from './instant.ts';
import { Random } from './random.ts';
import { printNothing, renderAddress } from './render-address.ts';
import type { UserOperation } from './user-operations.ts';

/** A user operation as the chain's generation prints it. */
export function renderUserOperation(world: World, operation: UserOperation): unknown {
  const shape = new Random(world.streams['user-operation-shape'], operation.ordinal);
  const { sender, entryPoint, timestampMs } = operation;
  return {
    ...(operation.lacksHash ? {} : { hash: operation.hash }),
    address: renderAddress(world, sender.hash, sender.shown, shape),
    entry_point: renderAddress(world, entryPoint.hash, entryPoint.shown, shape),
    entry_point_version: operation.entryPointVersion,
    block_number: String(operation.blockNumber),
    transaction_hash: operation.transactionHash,
    fee: operation.fee,
    status: operation.status,
    timestamp:
      timestampMs === null
        ? printNothing(shape)
        : printInstant(world.chain.generation, timestampMs),
    ...operation.extra,
  };
}
