import { isKnown, type Appearance } from './address-facts.ts';
import { lacksHash, type World } from './chain.ts';
import { rankDigits, seekOrdinal, standingOf, type Ladder } from './ladder.ts';
import { Random } from './random.ts';

/** A wallet factory; ordinal 0 is the last of the list. */
export interface Factory {
  readonly ordinal: number;
  readonly addressHash: string;
  readonly shown: Appearance;
  readonly lacksHash: boolean;
  readonly totalAccounts: number;
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

function ladderOf(world: World): Ladder {
  return { first: 1, step: 29, stream: world.streams['factory-rung'] };
}

/** The factory with this ordinal: a function of seed, chain and ordinal alone. */
export function factoryAt(world: World, ordinal: number): Factory {
  const standing = standingOf(ladderOf(world), ordinal);
  const random = new Random(world.streams.factory, ordinal);
  const addressHash = rankDigits(random.hex(5), standing);
  const hasExtra = world.chain.generation === 'v12' && random.oneIn(4);
  return {
    ordinal,
    addressHash,
    shown: isKnown(addressHash) ? 'full' : 'unknown',
    lacksHash: lacksHash(world, ordinal),
    totalAccounts: standing.value,
    extra: hasExtra ? { verified_deployments: random.below(50) } : null,
  };
}

/** The address of the factory with this ordinal, without its other facts. */
export function factoryAddressAt(world: World, ordinal: number): string {
  const digits = new Random(world.streams.factory, ordinal).hex(5);
  return rankDigits(digits, standingOf(ladderOf(world), ordinal));
}

/** The highest ordinal not above (total_accounts, address), or -1. */
export function seekFactory(world: World, totalAccounts: number, address: string): number {
  const keyOf = (ordinal: number) => factoryAddressAt(world, ordinal);
  return seekOrdinal(ladderOf(world), totalAccounts, address, keyOf);
}
