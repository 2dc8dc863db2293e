import { factoryAt } from './addresses.ts';
import type { Random } from './random.ts';
import { evenRank, ranking } from './ranking.ts';
import type { World } from './world.ts';

/** The wallet factories, most accounts first. */
export const { list: listFactories, seen: factoriesSeen } = ranking({
  name: 'factory',
  length: ({ chain }) => chain.factories,
  drawRank,
  drawTraits({ chain }, random) {
    const hasExtra = chain.generation === 'v12' && random.oneIn(4);
    /** Members of the object that the contract does not list. */
    return { extra: hasExtra ? { verified_deployments: random.below(50) } : null };
  },
  print: ({ count, extra }) => ({ total_accounts: count, ...extra }),
});

/** The address of the factory with this ordinal, without drawing all others. */
export const factoryAddressAt = (world: World, ordinal: number): string =>
  drawRank(world, ordinal, world.draw('factory', ordinal)).addressHash;

/** Accounts of the largest factory of a chain in use; the second has a third. */
const largest = 150_000;

function drawRank(world: World, ordinal: number, random: Random) {
  const { chain } = world;
  const even = evenRank('factory')(world, ordinal, random);
  if (!chain.lived) return even;
  const rank = chain.factories - ordinal;
  // The ordinal keeps the smallest apart, so that no two share a count.
  const count = 1 + ordinal + Math.floor(largest / (rank * Math.sqrt(rank)));
  return { addressHash: factoryAt(world, rank - 1), count };
}
