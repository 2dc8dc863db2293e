import { operationsRank, ranking } from './ranking.ts';
import type { World } from './world.ts';

const rankOf = operationsRank('bundler', 1);

/** Operations in a bundle of one bundler, at most. */
const largestBundle = 4;

/** The bundlers, most operations first. */
export const { list: listBundlers, seen: bundlersSeen } = ranking({
  name: 'bundler',
  length: ({ chain }) => chain.bundlers ?? 0,
  drawRank: rankOf,
  drawTraits: (_world, random) => ({ bundleSize: 1 + random.below(largestBundle) }),
  print: (bundler) => ({ total_bundles: bundlesOf(bundler), total_ops: bundler.count }),
});

/** The address of the bundler with this ordinal, without drawing all others. */
export const bundlerAddressAt = (world: World, ordinal: number): string =>
  rankOf(world, ordinal, world.draw('bundler', ordinal)).addressHash;

/** How many bundles hold the operations of a bundler. */
export const bundlesOf = ({ count, bundleSize }: { count: number; bundleSize: number }): number =>
  Math.ceil(count / bundleSize);
