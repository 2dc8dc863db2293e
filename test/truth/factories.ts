import type { World } from '../../simulator/chain.ts';
import { factoryAt } from '../../simulator/factories.ts';
import { isoOf, startInstantMs } from '../../simulator/instant.ts';
import { factoriesSeen, type SeenFactory } from '../../simulator/moving-factories.ts';
import type { Row } from './row.ts';
import type { Observations } from './observations.ts';

/** The factories of the chain that were seen, most accounts first. */
export function factoriesInScope(world: World, atMs: number): readonly SeenFactory[] {
  const { chain, course } = world;
  if (course !== null) return factoriesSeen(world, course, atMs);
  const { factories } = chain;
  return Array.from({ length: factories }, (_, place) => ({
    factory: factoryAt(world, factories - 1 - place),
    missingSinceMs: null,
  }));
}

/** Rows of the factories, ranked among those that are listed with a hash; notes their addresses. */
export function factoryRows(seen: readonly SeenFactory[], observations: Observations): Row[] {
  const kept = seen.filter(({ factory }) => !factory.lacksHash);
  for (const { factory } of kept) observations.see(factory.addressHash, factory.shown);
  let listed = 0;
  return kept.map(({ factory, missingSinceMs }) => {
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
export function historyRows(factories: readonly Row[]): Row[] {
  return factories.map(({ address_hash, total_accounts }) => ({ address_hash, total_accounts }));
}
