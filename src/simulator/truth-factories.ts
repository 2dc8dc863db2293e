import type { World } from './chain.ts';
import { factoryAt, type Factory } from './factories.ts';
import type { Row } from './row.ts';
import type { Sightings } from './sightings.ts';

/** Tables that the factories fill. */
export type FactoryTable = 'factories' | 'factory_history';

/** The factories of the chain, most accounts first. */
export function factoriesInScope(world: World): Factory[] {
  const { factories } = world.chain;
  return Array.from({ length: factories }, (_, place) => factoryAt(world, factories - 1 - place));
}

/** Rows of the factories, ranked among those with a hash; notes their addresses. */
export function factoryRows(
  factories: readonly Factory[],
  sightings: Sightings,
): Record<FactoryTable, Row[]> {
  const kept = factories.filter((factory) => !factory.lacksHash);
  for (const { addressHash, shown } of kept) sightings.see(addressHash, shown);
  return {
    factories: kept.map(({ addressHash, totalAccounts, extra }, place) => ({
      address_hash: addressHash,
      total_accounts: totalAccounts,
      rank: place + 1,
      missing_since: null,
      extra,
    })),
    factory_history: kept.map(({ addressHash, totalAccounts }) => ({
      address_hash: addressHash,
      total_accounts: totalAccounts,
    })),
  };
}
