import type { Appearance } from '../../src/simulator/address-facts.ts';

/** How an address was seen within a scope. */
export interface Sighting {
  /** At least once as an object with its facts. */
  isFull: boolean;
  /** At least once as the miner of a block. */
  isMiner: boolean;
}

/** Which addresses were seen, and how. */
export interface Sightings {
  readonly all: ReadonlyMap<string, Readonly<Sighting>>;
  readonly see: (hash: string, shown: Appearance | 'miner') => void;
}

/** No address seen yet. */
export function createSightings(): Sightings {
  const all = new Map<string, Sighting>();
  return {
    all,
    see(hash, shown) {
      const sighting = all.get(hash) ?? { isFull: false, isMiner: false };
      if (shown === 'full' || shown === 'miner') sighting.isFull = true;
      if (shown === 'miner') sighting.isMiner = true;
      all.set(hash, sighting);
    },
  };
}
