import { keccak_256 } from '@noble/hashes/sha3.js';
import { accountFacts, listOf, type AddressFacts } from './directory.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** How an address appears: with its facts, as the explorer's "unknown", or as its hash alone. */
export type Appearance = 'full' | 'unknown' | 'bare';

const proxyTypes = listOf(`
  eip1167, eip1967, eip1822, eip1967_oz, eip1967_beacon, master_copy, basic_implementation,
  basic_get_implementation, comptroller, eip2535, clone_with_immutable_arguments, eip7702,
  resolved_delegate_proxy, erc7760, minimal_proxy, eip930, unknown`);

const names = ['Account', 'Vault', 'Router', 'Paymaster', 'Treasury', 'Bäckerei', '財布'] as const;

/** Few, so that several proxies share one, and their checksums stay cached. */
const implementationPool = 48;

/** Every how many addresses one has a NUL in its name. */
const nulEvery = 13;

/** Whether the explorer knows an address: seven in eight, by its last digit, and all of a directory. */
export function isKnown({ lived }: World, hash: string): boolean {
  return lived?.facts.has(hash) === true || !(hash.endsWith('8') || hash.endsWith('f'));
}

/** A miner of the chain: always known to the explorer. */
export function minerOf({ draw }: World, index: number): string {
  return `${draw('miner', index).hex(5).slice(0, -1)}a`;
}

/** The facts of a known address. */
export function addressFactsOf(world: World, hash: string): AddressFacts {
  const { lived, draw } = world;
  if (lived !== null) return lived.facts.get(hash) ?? accountFacts(hash, draw);
  const random = draw('address-facts', Number.parseInt(hash.slice(-8), 16));
  const hasNul = world.oddities.has('nul-in-name') && random.oneIn(nulEvery);
  const name = hasNul || random.oneIn(3) ? `${random.pick(names)} ${random.below(10_000)}` : null;
  const isContract = random.oneIn(2);
  const implementations = isContract ? drawImplementations(world, random) : [];
  // Null only beside a name: an object with neither would be the explorer's "unknown".
  const hidesContract = name !== null && random.oneIn(9);
  const hidesVerified = name !== null && random.oneIn(7);
  return {
    hash,
    fields: {
      name,
      is_contract: hidesContract ? null : isContract,
      is_scam: false,
      is_verified: hidesVerified ? null : isContract && random.oneIn(2),
      proxy_type: implementations.length > 0 ? random.pick(proxyTypes) : null,
      reputation: 'ok',
    },
    hasNul,
    implementations,
    extra:
      world.chain.generation === 'v12' && random.oneIn(6)
        ? { creator_address_hash: random.hex(5) }
        : null,
  };
}

function drawImplementations({ draw }: World, random: Random): AddressFacts['implementations'] {
  const first = random.below(implementationPool);
  return Array.from({ length: random.below(3) }, (_, position) => ({
    hash: draw('implementation', (first + position) % implementationPool).hex(5),
    name: random.oneIn(4) ? null : `Implementation ${random.below(100)}`,
  }));
}

/** What only a block shows of its miner; labels and watchlist names only to their owner's key. */
export interface MinerFacts {
  readonly ensDomainName: string | null;
  readonly tags: readonly MetadataTag[];
  readonly privateLabels: readonly Label[];
  readonly publicLabels: readonly Label[];
  readonly watchlistNames: readonly Label[];
}

interface MetadataTag {
  readonly slug: string;
  readonly name: string;
  readonly tagType: string;
  readonly ordinal: number;
  readonly meta: Readonly<Record<string, unknown>> | null;
}

export interface Label {
  readonly label: string;
  readonly display_name: string;
}

const tagTypes = ['name', 'generic', 'classifier', 'information', 'note', 'protocol'] as const;

const tooltipDescription = 'Collects the fees of the sequencer';
const colours = { bgColor: '#ff0420', textColor: '#ffffff' };

/** The fee vault's: with a calendar it is the only miner. */
const feeVaultFacts: MinerFacts = {
  ensDomainName: null,
  tags: [
    {
      slug: 'sequencer-fee-vault',
      name: 'Sequencer Fee Vault',
      tagType: 'name',
      ordinal: 10,
      meta: { tooltipDescription },
    },
    { slug: 'op-stack', name: 'OP Stack', tagType: 'protocol', ordinal: 5, meta: null },
    { slug: 'predeploy', name: 'Predeploy', tagType: 'generic', ordinal: 0, meta: colours },
  ],
  privateLabels: [],
  publicLabels: [],
  watchlistNames: [],
};

/** The miner facts of an address, fixed by its hash. */
export function minerFactsOf({ lived, draw }: World, hash: string): MinerFacts {
  if (lived !== null) return feeVaultFacts;
  const random = draw('miner-facts', Number.parseInt(hash.slice(-8), 16));
  return {
    ensDomainName: random.oneIn(2) ? `miner-${random.below(1000)}.eth` : null,
    tags: Array.from({ length: random.below(4) }, (_, position) => drawTag(random, position)),
    privateLabels: drawLabels(random, 'mine'),
    publicLabels: drawLabels(random, 'everyone'),
    watchlistNames: drawLabels(random, 'watched'),
  };
}

function drawTag(random: Random, position: number): MetadataTag {
  const number = random.below(1000);
  return {
    slug: `tag-${position}-${number}`,
    name: `Tag ${number}`,
    tagType: random.pick(tagTypes),
    ordinal: random.below(20),
    meta: random.oneIn(3) ? null : { bgColor: `#${random.hex(1).slice(2, 8)}`, weight: number / 8 },
  };
}

function drawLabels(random: Random, word: string): Label[] {
  return Array.from({ length: random.below(3) }, (_, position) => ({
    label: `${word}-${position}-${random.below(1000)}`,
    display_name: `${word} ${position}`,
  }));
}

/** Nothing to say: the service prints null, or leaves the member out. */
export const printNothing = (shape: Random): null | undefined =>
  shape.oneIn(2) ? null : undefined;

/** Members as the service prints them, in their order. */
export function printMembers(members: object, shape: Random): Record<string, unknown> {
  const printed = Object.entries(members).map(([name, value]: [string, unknown]) => [
    name,
    value ?? printNothing(shape),
  ]);
  return Object.fromEntries(printed) as Record<string, unknown>;
}

/** An address as operations and factories show it: without ens name, metadata and tag lists. */
export function renderAddress(
  world: World,
  hash: string,
  shown: Appearance,
  shape: Random,
): unknown {
  const nothing = { ens_domain_name: null, metadata: null };
  if (shown === 'full') return { ...renderFacts(world, hash, shape), ...nothing };
  const address = checksumAddress(hash);
  if (shown === 'bare' || world.chain.generation !== 'v10') return address;
  // What v10 shows of an address that it knows nothing of.
  return {
    hash: address,
    is_contract: false,
    is_verified: null,
    name: null,
    proxy_type: null,
    implementations: [],
    is_scam: false,
    reputation: 'ok',
    ...nothing,
  };
}

/** An address as a block shows its miner; labels and watchlist names only with the secret key. */
export function renderMiner(
  world: World,
  hash: string,
  withSecretKey: boolean,
  shape: Random,
): unknown {
  const { ensDomainName, tags, ...facts } = minerFactsOf(world, hash);
  const labels = (list: readonly Label[]) =>
    withSecretKey ? list.map((label) => ({ address_hash: checksumAddress(hash), ...label })) : [];
  return {
    ...renderFacts(world, hash, shape),
    ens_domain_name: ensDomainName ?? printNothing(shape),
    metadata: tags.length > 0 ? { tags } : printNothing(shape),
    private_tags: labels(facts.privateLabels),
    public_tags: labels(facts.publicLabels),
    watchlist_names: withSecretKey ? facts.watchlistNames : [],
  };
}

function renderFacts(world: World, hash: string, shape: Random): Record<string, unknown> {
  const { fields, hasNul, implementations, extra } = addressFactsOf(world, hash);
  const isOld = world.chain.generation === 'v10';
  const name = hasNul ? (fields.name?.replace(' ', ' \u0000') ?? null) : fields.name;
  return {
    hash: checksumAddress(hash),
    ...printMembers({ ...fields, name }, shape),
    implementations:
      isOld && implementations.length === 0
        ? null
        : implementations.map((implementation) => ({
            [isOld ? 'address' : 'address_hash']: checksumAddress(implementation.hash),
            name: implementation.name,
          })),
    ...extra,
  };
}

/** Entries of the cache: about 3 MB, and more than the addresses of a small chain. */
const cacheLimit = 16_384;
const cache = new Map<string, string>();

/** The mixed-case form of a lower-case address with 0x: https://eips.ethereum.org/EIPS/eip-55. */
export function checksumAddress(address: string): string {
  const known = cache.get(address);
  if (known !== undefined) return known;
  // Emptied whole: keeping an order of use would cost more than the few hashes it saves.
  if (cache.size >= cacheLimit) cache.clear();
  const digest = keccak_256(Buffer.from(address.slice(2), 'latin1'));
  const digits = Array.from(address.slice(2), (digit, position) => {
    const byte = digest[position >> 1] ?? 0;
    const nibble = position % 2 === 0 ? byte >> 4 : byte & 0x0f;
    return nibble >= 8 ? digit.toUpperCase() : digit;
  });
  const mixed = `0x${digits.join('')}`;
  cache.set(address, mixed);
  return mixed;
}
