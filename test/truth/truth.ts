import { listBatches, newestNumber, type ListedBatch } from '../../simulator/batches.ts';
import { bundlesSeen, type Bundle } from '../../simulator/bundles.ts';
import type { OperationName } from '../../simulator/index.ts';
import { itemsBelow } from '../../simulator/pages.ts';
import { type Ranked, type RankingName, rankingNames, rankings } from '../../simulator/rankings.ts';
import { seenOperations, type UserOperation } from '../../simulator/user-operations.ts';
import {
  createWorld,
  startInstantMs,
  type SimulatedChain,
  type World,
} from '../../simulator/world.ts';
import { addressRows, createObservations, type Observations, type Row } from './addresses.ts';
import { batchRows, blockRows, blocksInScope, isoOf, reorgRows } from './batches.ts';

/** What was read of a chain. */
export interface TruthScope {
  /** Batch numbers, both ends included; all batches up to the newest if absent. */
  readonly batches?: { readonly from: number; readonly to: number };
  /** How many of the newest operations; all if absent. */
  readonly userOperations?: { readonly newest: number };
  /** Whether block miners showed labels and watchlist names. */
  readonly withSecretKey?: boolean;
  /** When ranked lists were read before, simulated milliseconds; never if absent. */
  readonly rankedAtMs?: readonly number[];
  /** Which lists were read; all if absent. */
  readonly operations?: readonly OperationName[];
}

/**
 * The rows that each table of schema `explorer` must hold after the scope was read to its end once,
 * at the start of the clock. Computed from the model of the chain, never from the JSON that the
 * service prints of it.
 */
export function truth(seed: number, chain: SimulatedChain, scope: TruthScope = {}) {
  const world = createWorld(seed, chain);
  const { tables, batches } = listedRows(world, scope, 0);
  const before = (scope.rankedAtMs ?? []).map((atMs) => listedRows(world, scope, atMs).tables);
  const histories = rankingNames.map((name) => {
    const { item, total } = rankings[name];
    const read = [...before, tables].flatMap((then) => then[name]);
    return [`${item}_history`, historyRows(read, total)];
  });
  return ofChain(chain, {
    ...tables,
    ...listedBatchRows(
      reads(world, scope, 'optimism-batches')
        ? itemsBelow(listBatches(world, 0), null, Infinity)
        : [],
    ),
    read_batches: batchRows(batches),
    ...(Object.fromEntries(histories) as Readonly<Record<string, Row[]>>),
  });
}

/**
 * The rows that each table must hold of a scope at a simulated time (milliseconds since the start)
 * for one who has watched without a blink since then:
 * - operations and bundles that left the list, with `removed_at`; missing items of ranked lists with
 *   `missing_since`, the last count and no rank;
 * - a row of `block_reorgs` for every hash that was replaced: who looks now and then has seen some;
 * - all blocks that the batches of the scope show now; a scope that ends among batches which still
 *   trade blocks knows nothing of those that went beyond its end.
 */
export function truthAt(seed: number, chain: SimulatedChain, scope: TruthScope, atMs: number) {
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
  const { batches, ranked, ...lists } = readScope(createWorld(seed, chain), scope, atMs);
  const blocks = batches.flatMap((batch) => batch.blocks);
  return [blocks, ...Object.values(lists), ...Object.values(ranked)]
    .flat()
    .filter(({ lacksHash }) => lacksHash).length;
}

/** The rows that follow from what is listed at one time. */
function listedRows(world: World, scope: TruthScope, atMs: number) {
  const observations = createObservations();
  const { batches, operations, bundles, ranked } = readScope(world, scope, atMs);
  const tables = {
    ...blockRows(batches, observations),
    user_operations: operationRows(operations, observations),
    bundles: bundleRows(bundles, observations),
    ...ofRankings((name) => rankedRows(ranked[name], observations)),
    ...addressRows(world, observations, scope.withSecretKey ?? false),
    chains: [{ name: world.chain.name } as Row],
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
      ? itemsBelow(seenOperations(world, atMs), null, scope.userOperations?.newest ?? Infinity)
      : [],
    bundles: reads(world, scope, 'bundles') ? bundlesSeen(world, atMs) : [],
    ranked: ofRankings((name) =>
      reads(world, scope, name) ? rankings[name].seen(world, atMs) : [],
    ),
  };
}

/** What is made of each ranking, by its name. */
const ofRankings = <Made>(make: (name: RankingName) => Made) =>
  Object.fromEntries(rankingNames.map((name) => [name, make(name)])) as Record<RankingName, Made>;

const reads = ({ chain }: World, { operations }: TruthScope, operation: OperationName) =>
  chain.family !== 'plain' && (operations?.includes(operation) ?? true);

function batchNumbers(world: World, scope: TruthScope, atMs: number): number[] {
  const { first } = world.chain.batches;
  const { from, to } = scope.batches ?? { from: first, to: newestNumber(world, atMs) };
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function ofChain<Tables extends Readonly<Record<string, Row[]>>>(
  chain: SimulatedChain,
  tables: Tables,
): Tables {
  for (const rows of Object.values(tables)) {
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
    block_number: operation.blockNumber,
    ...operation.fields,
    timestamp: isoOf(operation.timestampMs),
    removed_at: isoOf(leftAtMs === null ? null : startInstantMs + leftAtMs),
    extra: operation.extra,
  }));
}

/** Rows of the bundles; notes their bundlers. */
function bundleRows(seen: readonly Bundle[], observations: Observations): Row[] {
  for (const { bundler } of seen) observations.see(bundler.hash, bundler.shown);
  return seen.map((bundle) => ({
    ...bundle.fields,
    block_number: bundle.blockNumber,
    timestamp: isoOf(bundle.timestampMs),
    bundler_hash: bundle.bundler.hash,
    removed_at: isoOf(bundle.leftAtMs === null ? null : startInstantMs + bundle.leftAtMs),
    extra: bundle.extra,
  }));
}

/** Rows of a ranked list, ranked among those that are listed with a hash; notes their addresses. */
function rankedRows(seen: readonly Ranked[], observations: Observations): Row[] {
  const kept = seen.filter((item) => !item.lacksHash);
  for (const item of kept) observations.see(item.addressHash, item.shown);
  let listed = 0;
  return kept.map((item) => {
    const { addressHash, missingSinceMs, counts, extra } = item;
    if (missingSinceMs === null) listed += 1;
    return {
      address_hash: addressHash,
      rank: missingSinceMs === null ? listed : null,
      missing_since: isoOf(missingSinceMs === null ? null : startInstantMs + missingSinceMs),
      ...counts,
      extra,
    };
  });
}

/** The history of items whose counts only rose. */
function historyRows(items: readonly Row[], total: string): Row[] {
  const counts = items.map((row) => ({ address_hash: row['address_hash'], [total]: row[total] }));
  return [...new Map(counts.map((row) => [JSON.stringify(row), row])).values()];
}

/** Rows of what the list of batches reports. */
const listedBatchRows = (batches: readonly ListedBatch[]) => ({
  listed_batches: batches.map(({ timestampMs, fields }): Row => {
    const { number, l1_transaction_hashes: _hashes, ...columns } = fields;
    const l1_timestamp = isoOf(timestampMs);
    return { batch_number: number, l1_timestamp, ...columns, removed_at: null, extra: null };
  }),
  optimism_batch_l1_transactions: batches.flatMap(({ fields }) =>
    fields.l1_transaction_hashes.map((hash, position): Row => ({
      batch_number: fields.number,
      position,
      hash,
    })),
  ),
});
