import type { World } from './chain.ts';
import { plausibleAccount } from './plausible-address.ts';
import { Random } from './random.ts';

/** What the explorer knows of an address, fixed by its hash. */
export interface AddressFacts {
  readonly hash: string;
  readonly name: string | null;
  /** The service prints a NUL character inside the name. */
  readonly hasNul: boolean;
  readonly isContract: boolean | null;
  readonly isVerified: boolean | null;
  readonly proxyType: string | null;
  readonly implementations: readonly Implementation[];
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

interface Implementation {
  readonly hash: string;
  readonly name: string | null;
}

/** How an address appears: with its facts, as the explorer's "unknown", or as its hash alone. */
export type Appearance = 'full' | 'unknown' | 'bare';

const proxyTypes = [
  'eip1167',
  'eip1967',
  'eip1822',
  'eip1967_oz',
  'eip1967_beacon',
  'master_copy',
  'basic_implementation',
  'basic_get_implementation',
  'comptroller',
  'eip2535',
  'clone_with_immutable_arguments',
  'eip7702',
  'resolved_delegate_proxy',
  'erc7760',
  'minimal_proxy',
  'eip930',
  'unknown',
] as const;

const names = ['Account', 'Vault', 'Router', 'Paymaster', 'Treasury', 'Bäckerei', '財布'] as const;

/** Few, so that several proxies share one, and their checksums stay cached. */
const implementationPool = 48;

/** Every how many addresses one has a NUL in its name. */
const nulEvery = 13;

/**
 * Whether the explorer knows the address: seven in eight, told by the last digit of its hash, and all
 * of a directory.
 */
export function isKnown({ lived }: World, hash: string): boolean {
  return lived?.directory.facts.has(hash) === true || !(hash.endsWith('8') || hash.endsWith('f'));
}

/** A miner of the chain: always known to the explorer. */
export function minerOf(world: World, index: number): string {
  return `${new Random(world.streams.miner, index).hex(5).slice(0, -1)}a`;
}

/** The facts of a known address. */
export function addressFactsOf(world: World, hash: string): AddressFacts {
  const { lived, streams } = world;
  if (lived !== null) {
    return lived.directory.facts.get(hash) ?? plausibleAccount(hash, streams['address-facts']);
  }
  const random = new Random(world.streams['address-facts'], Number.parseInt(hash.slice(-8), 16));
  const hasNul = world.oddities.has('nul-in-name') && random.oneIn(nulEvery);
  const name = hasNul || random.oneIn(3) ? `${random.pick(names)} ${random.below(10_000)}` : null;
  const isContract = random.oneIn(2);
  const implementations = isContract ? drawImplementations(world, random) : [];
  // Null only beside a name: an object with neither would be the explorer's "unknown".
  const hidesContract = name !== null && random.oneIn(9);
  const hidesVerified = name !== null && random.oneIn(7);
  return {
    hash,
    name,
    hasNul,
    isContract: hidesContract ? null : isContract,
    isVerified: hidesVerified ? null : isContract && random.oneIn(2),
    proxyType: implementations.length > 0 ? random.pick(proxyTypes) : null,
    implementations,
    extra:
      world.chain.generation === 'v12' && random.oneIn(6)
        ? { creator_address_hash: random.hex(5) }
        : null,
  };
}

function drawImplementations(world: World, random: Random): Implementation[] {
  const first = random.below(implementationPool);
  return Array.from({ length: random.below(3) }, (_, position) => ({
    hash: implementationOf(world, (first + position) % implementationPool),
    name: random.oneIn(4) ? null : `Implementation ${random.below(100)}`,
  }));
}

function implementationOf(world: World, index: number): string {
  return new Random(world.streams.implementation, index).hex(5);
}
