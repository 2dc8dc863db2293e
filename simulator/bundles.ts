import { isKnown, renderAddress } from './addresses.ts';
import { inOrder, printNothing, type List, type Position } from './pages.ts';
import { rankings } from './rankings.ts';
import { listUserOperations, sightingsSeen, type UserOperation } from './user-operations.ts';
import { instantOf, printInstant, type World } from './world.ts';

/** Operations that went through the entry point together. */
export type Bundle = ReturnType<typeof drawBundle>;

/** The bundles of the operations that are listed at a time, newest first. */
export function listBundles(world: World, atMs: number): List<Bundle> {
  const operations = listUserOperations(world, atMs);
  return {
    ...operations,
    between: (lowest, highest) => bundlesOf(world, operations.between(lowest, highest)),
    positionOf,
    render: (bundle) => renderBundle(world, bundle),
  };
}

/** All that were on the list at some moment until a time, newest first. */
export const bundlesSeen = (world: World, atMs: number): Bundle[] =>
  bundlesOf(world, sightingsSeen(world, atMs));

const positionOf = ({ blockNumber, fields }: Bundle): Position => ({
  value: blockNumber,
  key: `${fields.transaction_hash},${fields.bundle_index}`,
});

/**
 * The bundles of operations, newest first: one that left with the operations that left last, and one
 * that moved where it is now.
 */
function bundlesOf(world: World, operations: readonly UserOperation[]): Bundle[] {
  const bundled = Map.groupBy(
    operations,
    (operation) => `${operation.fields.transaction_hash},${indexOf(world, operation)}`,
  );
  const bundles = [...bundled.values()].map((own) => {
    const isListed = own.some((operation) => operation.leftAtMs === null);
    const leftAtMs = isListed ? null : Math.max(...own.map((operation) => operation.leftAtMs ?? 0));
    const last = own.filter((operation) => operation.leftAtMs === leftAtMs);
    return drawBundle(world, last);
  });
  return inOrder(bundles, positionOf);
}

/** Bundles of one transaction, at most. */
const mostInTransaction = 3;

/** In which bundle of its transaction an operation is. */
const indexOf = ({ draw }: World, { ordinal }: UserOperation) =>
  draw('bundle-index', ordinal).below(mostInTransaction);

/** Bundlers of a chain whose list has none. */
const unlistedBundlers = 12;
/** Every how many transactions one shows a known bundler as its hash alone. */
const bareBundlerEvery = 17;

/** What the operations of a bundle, one at least, make of it. */
function drawBundle(world: World, operations: readonly UserOperation[]) {
  const [first] = operations;
  if (first === undefined) throw new RangeError('a bundle holds one operation at least');
  const { blockNumber, leftAtMs } = first;
  const { transaction_hash } = first.fields;
  const index = indexOf(world, first);
  const transaction = Number.parseInt(transaction_hash.slice(2, 9), 16);
  const random = world.draw('bundle', transaction);
  // Zipf's law: the n-th bundler sends an n-th of what the first one sends.
  const count = world.chain.otherRankings || unlistedBundlers;
  const rank = Math.floor(Math.exp(random.part() * Math.log(count)));
  const hash = rankings.bundlers.addressAt(world, count - rank);
  const known = random.oneIn(bareBundlerEvery) ? ('bare' as const) : ('full' as const);
  const own = world.draw('bundle', transaction, 1 + index);
  return {
    ordinal: transaction + index,
    lacksHash: false,
    // Under the contract's names.
    fields: { transaction_hash, bundle_index: index, total_ops: operations.length },
    blockNumber,
    /** When it left the list; null while it is on it. */
    leftAtMs,
    bundler: { hash, shown: isKnown(world, hash) ? known : ('unknown' as const) },
    timestampMs: own.oneIn(23) ? null : instantOf(world, blockNumber, blockNumber % 1000),
    /** Members of the object that no contract lists. */
    extra: world.chain.generation === 'v12' && own.oneIn(5) ? { is_private: own.oneIn(2) } : null,
  };
}

/** A bundle as the chain's generation prints it. */
function renderBundle(world: World, bundle: Bundle): unknown {
  const { bundler, timestampMs } = bundle;
  const shape = world.draw('bundle-shape', bundle.ordinal);
  return {
    ...bundle.fields,
    block_number: String(bundle.blockNumber),
    bundler: renderAddress(world, bundler.hash, bundler.shown, shape),
    timestamp: timestampMs === null ? printNothing(shape) : printInstant(world, timestampMs),
    ...bundle.extra,
  };
}
