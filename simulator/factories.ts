import { isKnown, type Appearance } from './address-facts.ts';
import { lacksHash, type World } from './chain.ts';
import { evenLadder, rankDigits, seekOrdinal, standingOf, type Ladder } from './ladder.ts';
import { plausibleRank, seekPlausibleFactory } from './plausible-factory.ts';
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
  return evenLadder(1, 29, world.streams['factory-rung']);
}

/** The factory with this ordinal: a function of seed, chain and ordinal alone. */
export function factoryAt(world: World, ordinal: number): Factory {
  const random = new Random(world.streams.factory, ordinal);
  const { addressHash, totalAccounts } = rankAt(world, ordinal, random);
  const hasExtra = world.chain.generation === 'v12' && random.oneIn(4);
  return {
    ordinal,
    addressHash,
    shown: isKnown(world, addressHash) ? 'full' : 'unknown',
    lacksHash: lacksHash(world, ordinal),
    totalAccounts,
    extra: hasExtra ? { verified_deployments: random.below(50) } : null,
  };
}

function rankAt(
  world: World,
  ordinal: number,
  random: Random,
): Pick<Factory, 'addressHash' | 'totalAccounts'> {
  if (world.lived !== null) return plausibleRank(world.lived, ordinal, random);
  const standing = standingOf(ladderOf(world), ordinal);
  return { addressHash: rankDigits(random.hex(5), standing), totalAccounts: standing.value };
}

/** The address of the factory with this ordinal, without its other facts. */
export function factoryAddressAt(world: World, ordinal: number): string {
  const digits = new Random(world.streams.factory, ordinal).hex(5);
  return rankDigits(digits, standingOf(ladderOf(world), ordinal));
}

/** The highest ordinal not above (total_accounts, address), or -1. */
export function seekFactory(world: World, totalAccounts: number, address: string): number {
  const { lived, streams } = world;
  if (lived !== null) {
    return seekPlausibleFactory(lived, streams.factory, totalAccounts, address);
  }
  const keyOf = (ordinal: number) => factoryAddressAt(world, ordinal);
  return seekOrdinal(ladderOf(world), totalAccounts, address, keyOf);
}
