import { listBatches, newestNumber } from '../../../simulator/batches.ts';
import { factoriesSeen } from '../../../simulator/factories.ts';
import type { OperationName } from '../../../simulator/index.ts';
import { operationsSeen } from '../../../simulator/user-operations.ts';
import { createWorld, type SimulatedChain, type World } from '../../../simulator/world.ts';
import type { Row } from './row.ts';
import { createObservations } from './observations.ts';
import { addressRows, type AddressTable } from './addresses.ts';
import {
  batchRows,
  blockRows,
  blocksInScope,
  type BatchTable,
  type ScopedBatch,
} from './batches.ts';
import { factoryRows, historyRows } from './factories.ts';
import { listedBatchRows, type ListedBatchTable } from './listed-batches.ts';
import { reorgRows } from './reorgs.ts';
import { operationRows } from './user-operations.ts';

/** The tables of schema `explorer` that follow from what is listed at one time. */
type ListedTable =
  AddressTable | Exclude<BatchTable, 'read_batches'> | 'user_operations' | 'factories' | 'chains';

/** The tables of schema `explorer` that the truth of one reading knows. */
export type TruthTable = ListedTable | ListedBatchTable | 'read_batches' | 'factory_history';

/** The tables that the truth of one who watches knows; all but the times of changes. */
type WatchedTable = ListedTable | 'read_batches' | 'block_reorgs';

/** What was read of a chain. */
export interface TruthScope {
  /** Batch numbers, both ends included; all batches up to the newest if absent. */
  readonly batches?: { readonly from: number; readonly to: number };
  /** How many of the newest operations; all if absent. */
  readonly userOperations?: { readonly newest: number };
  /** Whether block miners showed labels and watchlist names. */
  readonly withSecretKey?: boolean;
  /** Which lists were read; all if absent. */
  readonly operations?: readonly OperationName[];
}

/**
 * The rows that each table of schema `explorer` must hold after the scope was read to its end once,
 * at the start of the clock. Computed from the model of the chain, never from the JSON that the
 * service prints of it.
 */
export function truth(
  seed: number,
  chain: SimulatedChain,
  scope: TruthScope = {},
): Record<TruthTable, Row[]> {
  const world = createWorld(seed, chain);
  const { tables, batches } = listedRows(world, scope, 0);
  return ofChain(chain, {
    ...tables,
    ...listedBatchRows(
      reads(world, scope, 'optimism-batches')
        ? listBatches(world, 0).below(Infinity, Infinity)
        : [],
    ),
    read_batches: batchRows(batches),
    factory_history: historyRows(tables.factories),
  });
}

/**
 * The rows that each table must hold of a scope at a simulated time (milliseconds since the start)
 * for one who has watched without a blink since then:
 * - operations that left the list, with `removed_at`; missing factories with `missing_since`, the
 *   last count and no rank;
 * - a row of `block_reorgs` for every hash that was replaced: who looks now and then has seen some;
 * - all blocks that the batches of the scope show now; a scope that ends among batches which still
 *   trade blocks knows nothing of those that went beyond its end.
 */
export function truthAt(
  seed: number,
  chain: SimulatedChain,
  scope: TruthScope,
  atMs: number,
): Record<WatchedTable, Row[]> {
  const world = createWorld(seed, chain);
  const { tables, batches } = listedRows(world, scope, atMs);
  return ofChain(chain, {
    ...tables,
    read_batches: batchRows(batches),
    block_reorgs: reorgRows(world, batches, atMs),
  });
}

/** How many items the service hands out within the scope that cannot be rows: they lack a hash. */
export function quarantined(
  seed: number,
  chain: SimulatedChain,
  scope: TruthScope = {},
  atMs = 0,
): number {
  const { batches, operations, factories } = readScope(createWorld(seed, chain), scope, atMs);
  return [...batches.flatMap(({ blocks }) => blocks), ...operations, ...factories].filter(
    ({ lacksHash }) => lacksHash,
  ).length;
}

function listedRows(
  world: World,
  scope: TruthScope,
  atMs: number,
): { readonly tables: Record<ListedTable, Row[]>; readonly batches: readonly ScopedBatch[] } {
  const observations = createObservations();
  const { batches, operations, factories } = readScope(world, scope, atMs);
  const tables = {
    ...blockRows(batches, observations),
    user_operations: operationRows(operations, observations),
    factories: factoryRows(factories, observations),
    ...addressRows(world, observations, scope.withSecretKey ?? false),
    chains: [{ name: world.chain.name }],
  };
  return { tables, batches };
}

function readScope(world: World, scope: TruthScope, atMs: number) {
  const numbers = reads(world, scope, 'optimism-batch-blocks')
    ? batchNumbers(world, scope, atMs)
    : [];
  return {
    batches: numbers.map((number) => ({ number, blocks: blocksInScope(world, number, atMs) })),
    operations: reads(world, scope, 'user-operations')
      ? operationsSeen(world, atMs, scope.userOperations?.newest ?? Infinity)
      : [],
    factories: reads(world, scope, 'factories') ? factoriesSeen(world, atMs) : [],
  };
}

const reads = ({ chain }: World, { operations }: TruthScope, operation: OperationName) =>
  chain.family !== 'plain' && (operations?.includes(operation) ?? true);

function batchNumbers(world: World, scope: TruthScope, atMs: number): number[] {
  const { first } = world.chain.batches;
  const { from, to } = scope.batches ?? { from: first, to: newestNumber(world, atMs) };
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function ofChain<Table extends string>(
  chain: SimulatedChain,
  tables: Record<Table, Row[]>,
): Record<Table, Row[]> {
  for (const rows of Object.values<Row[]>(tables)) {
    for (const row of rows) row['chain_id'] = chain.id;
  }
  return tables;
}
