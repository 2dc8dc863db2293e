import type { SeenFactory } from '../../../simulator/factories.ts';
import { startInstantMs } from '../../../simulator/world.ts';
import { isoOf, type Row } from './row.ts';
import type { Observations } from './observations.ts';

/** Rows of the factories, ranked among those that are listed with a hash; notes their addresses. */
export function factoryRows(seen: readonly SeenFactory[], observations: Observations): Row[] {
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
export function historyRows(factories: readonly Row[]): Row[] {
  return factories.map(({ address_hash, total_accounts }) => ({ address_hash, total_accounts }));
}
