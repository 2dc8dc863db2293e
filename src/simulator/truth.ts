import { createWorld, type SimulatedChain, type World } from './chain.ts';
import type { OperationName } from './route.ts';
import type { Row } from './row.ts';
import { createSightings } from './sightings.ts';
import { addressRows, type AddressTable } from './truth-addresses.ts';
import { blocksInScope, batchRows, blockRows, type BatchTable } from './truth-batches.ts';
import { factoriesInScope, factoryRows, type FactoryTable } from './truth-factories.ts';
import { operationsInScope, operationRows } from './truth-user-operations.ts';

/** The tables of schema `explorer` that the truth knows. */
export type TruthTable = AddressTable | BatchTable | FactoryTable | 'user_operations' | 'chains';

/** What was read of a chain. */
export interface TruthScope {
  /** Batch numbers, both ends included; all batches of the chain if absent. */
  readonly batches?: { readonly from: number; readonly to: number };
  /** How many of the newest operations; all if absent. */
  readonly userOperations?: { readonly newest: number };
  /** Whether block miners showed labels and watchlist names. */
  readonly withSecretKey?: boolean;
  /** Which lists were read; all if absent. */
  readonly operations?: readonly OperationName[];
}

/**
 * The rows that each table of schema `explorer` must hold after the scope was read to its end.
 * Computed from the model of the chain, never from the JSON that the service prints of it.
 */
export function truth(
  seed: number,
  chain: SimulatedChain,
  scope: TruthScope = {},
): Record<TruthTable, Row[]> {
  const world = createWorld(seed, chain);
  const sightings = createSightings();
  const batches = reads(chain, scope, 'optimism-batch-blocks') ? batchNumbers(world, scope) : [];
  const operations = reads(chain, scope, 'user-operations')
    ? operationsInScope(world, scope.userOperations?.newest)
    : [];
  const factories = reads(chain, scope, 'factories') ? factoriesInScope(world) : [];
  const blocks = batches.map((number) => ({ number, blocks: blocksInScope(world, number) }));
  const tables: Record<TruthTable, Row[]> = {
    ...blockRows(blocks, sightings),
    optimism_batches: batchRows(blocks),
    user_operations: operationRows(operations, sightings),
    ...factoryRows(factories, sightings),
    ...addressRows(world, sightings, scope.withSecretKey ?? false),
    chains: [{ name: chain.name }],
  };
  for (const rows of Object.values(tables)) {
    for (const row of rows) row['chain_id'] = chain.id;
  }
  return tables;
}

/** How many items the service hands out within the scope that cannot be rows: they lack a hash. */
export function quarantined(seed: number, chain: SimulatedChain, scope: TruthScope = {}): number {
  const world = createWorld(seed, chain);
  const blocks = reads(chain, scope, 'optimism-batch-blocks')
    ? batchNumbers(world, scope).flatMap((number) => blocksInScope(world, number))
    : [];
  const operations = reads(chain, scope, 'user-operations')
    ? operationsInScope(world, scope.userOperations?.newest)
    : [];
  const factories = reads(chain, scope, 'factories') ? factoriesInScope(world) : [];
  return [...blocks, ...operations, ...factories].filter(({ lacksHash }) => lacksHash).length;
}

function reads(chain: SimulatedChain, scope: TruthScope, operation: OperationName): boolean {
  if (chain.family === 'plain') return false;
  return scope.operations?.includes(operation) ?? true;
}

function batchNumbers(world: World, scope: TruthScope): number[] {
  const { first, count } = world.chain.batches;
  const { from, to } = scope.batches ?? { from: first, to: first + count - 1 };
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
