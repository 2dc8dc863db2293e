import { evenRank, ranking } from './ranking.ts';

/** Operations in a bundle of one bundler, at most. */
const largestBundle = 4;

/** The bundlers, most operations first. */
export const { list: listBundlers, seen: bundlersSeen } = ranking({
  name: 'bundler',
  length: ({ chain }) => chain.bundlers ?? 0,
  drawRank: evenRank('bundler'),
  drawTraits: (_world, random) => ({ bundleSize: 1 + random.below(largestBundle) }),
  print: (bundler) => ({ total_bundles: bundlesOf(bundler), total_ops: bundler.count }),
});

/** How many bundles hold the operations of a bundler. */
export const bundlesOf = ({ count, bundleSize }: { count: number; bundleSize: number }): number =>
  Math.ceil(count / bundleSize);
