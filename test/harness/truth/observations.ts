import type { Appearance } from '../../../simulator/addresses.ts';

/** How an address was seen within a scope. */
export interface Observation {
  /** At least once as an object with its facts. */
  isFull: boolean;
  /** At least once as the miner of a block. */
  isMiner: boolean;
}

/** Which addresses were seen, and how. */
export interface Observations {
  readonly all: ReadonlyMap<string, Readonly<Observation>>;
  readonly see: (hash: string, shown: Appearance | 'miner') => void;
}

/** No address seen yet. */
export function createObservations(): Observations {
  const all = new Map<string, Observation>();
  return {
    all,
    see(hash, shown) {
      const observation = all.get(hash) ?? { isFull: false, isMiner: false };
      if (shown === 'full' || shown === 'miner') observation.isFull = true;
      if (shown === 'miner') observation.isMiner = true;
      all.set(hash, observation);
    },
  };
}
