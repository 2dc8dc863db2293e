import { listBatches, newestNumber, type ListedBatch } from '../../../simulator/batches.ts';
import { factoriesSeen, type SeenFactory } from '../../../simulator/factories.ts';
import type { OperationName } from '../../../simulator/index.ts';
import { operationsSeen, type UserOperation } from '../../../simulator/user-operations.ts';
import {
  createWorld,
  startInstantMs,
  type SimulatedChain,
  type World,
} from '../../../simulator/world.ts';
import {
  addressRows,
  createObservations,
  type AddressTable,
  type Observations,
  type Row,
} from './addresses.ts';
import {
  batchRows,
  blockRows,
  blocksInScope,
  isoOf,
  reorgRows,
  type BatchTable,
  type ScopedBatch,
} from './batches.ts';

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

/** Rows of the operations; notes their senders and entry points. */
function operationRows(seen: readonly UserOperation[], observations: Observations): Row[] {
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

/** Rows of the factories, ranked among those that are listed with a hash; notes their addresses. */
function factoryRows(seen: readonly SeenFactory[], observations: Observations): Row[] {
  const kept = seen.filter((factory) => !factory.lacksHash);
  for (const factory of kept) observations.see(factory.addressHash, factory.shown);
  let listed = 0;
  return kept.map(({ missingSinceMs, ...factory }) => {
    if (missingSinceMs === null) listed += 1;
    return {
      address_hash: factory.addressHash,
      total_accounts: factory.totalAccounts,
      rank: missingSinceMs === null ? listed : null,
      missing_since: isoOf(missingSinceMs === null ? null : startInstantMs + missingSinceMs),
      extra: factory.extra,
    };
  });
}

/** The history of factories whose counts were read once. */
function historyRows(factories: readonly Row[]): Row[] {
  return factories.map(({ address_hash, total_accounts }) => ({ address_hash, total_accounts }));
}

/** Tables that the list of batches fills. */
type ListedBatchTable = 'listed_batches' | 'optimism_batch_l1_transactions';

/** Rows of what the list of batches reports. */
const listedBatchRows = (batches: readonly ListedBatch[]): Record<ListedBatchTable, Row[]> => ({
  listed_batches: batches.map((batch) => ({
    batch_number: batch.number,
    l1_timestamp: isoOf(batch.timestampMs),
    transactions_count: batch.transactions,
    l2_start_block_number: batch.lowest,
    l2_end_block_number: batch.highest,
    batch_data_container: batch.container,
    removed_at: null,
    extra: null,
  })),
  optimism_batch_l1_transactions: batches.flatMap(({ number, l1Transactions }) =>
    l1Transactions.map((hash, position) => ({ batch_number: number, position, hash })),
  ),
});
