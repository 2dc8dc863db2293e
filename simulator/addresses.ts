import { keccak_256 } from '@noble/hashes/sha3.js';
import { printMembers, printNothing } from './pages.ts';
import type { Draw, Random } from './random.ts';
import { perWorld, type World } from './world.ts';

/** How an address appears: with its facts, as the explorer's "unknown", or as its hash alone. */
export type Appearance = 'full' | 'unknown' | 'bare';

/** The singleton contracts of ERC-4337, from the releases of eth-infinitism/account-abstraction. */
export const entryPoints = [
  { version: 'v0.6', hash: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789' },
  { version: 'v0.7', hash: '0x0000000071727de22e5e9d8baf0edac6f37da032' },
  { version: 'v0.8', hash: '0x4337084d9e255ff0702461cf8895ce9e3b5ff108' },
  { version: 'v0.9', hash: '0x433709009b8330fda32311df1c2afa402ed8d009' },
] as const;

/** A text as a list: what its commas part. */
export const listOf = (text: string): readonly string[] => text.trim().split(/,\s+/u);

/** The largest factories of a chain in use, and those who send most. Companies are invented. */
const factoryNames = listOf(`
  Safe Proxy Factory, Kernel Factory, LightAccount Factory, SimpleAccountFactory,
  Smart Wallet Factory, Nexus Account Factory, Modular Account Factory, Harbor Wallet Factory`);
const senderNames = listOf(`
  Basalt Exchange: Hot Wallet 2, Pelican: Bundler 1, Tollgate: Verifying Paymaster,
  Arcade Games: Session Hub, Kiosk Exchange: Withdrawals, Pelican: Bundler 4, Swiftbridge: Filler`);

/** Of a chain in use: the sender or factory at a rank, the busiest or largest first. */
export const senderAt = ({ draw }: World, rank: number): string => draw('sender', rank).hex(5);
export const factoryAt = ({ draw }: World, rank: number): string =>
  draw('lived-factory', rank).hex(5);

/** The names of a chain in use. */
const namesOf = perWorld((world) => {
  const named = [
    ...entryPoints.map(({ hash, version }) => [hash, `EntryPoint ${version}`] as const),
    ...senderNames.map((name, rank) => [senderAt(world, rank), name] as const),
    ...factoryNames.map((name, rank) => [factoryAt(world, rank), name] as const),
  ];
  return new Map(world.chain.lived ? named : []);
});

const drawOf = (draw: Draw, name: string, hash: string) =>
  draw(name, Number.parseInt(hash.slice(-8), 16));

const proxyTypes = listOf(`
  eip1167, eip1967, eip1822, eip1967_oz, eip1967_beacon, master_copy, basic_implementation,
  basic_get_implementation, comptroller, eip2535, clone_with_immutable_arguments, eip7702,
  resolved_delegate_proxy, erc7760, minimal_proxy, eip930, unknown`);

const names = ['Account', 'Vault', 'Router', 'Paymaster', 'Treasury', 'Bäckerei', '財布'] as const;
/** Few, so that several proxies share one, and their checksums stay cached. */
const implementationPool = 48;
/** Every how many addresses one has a NUL in its name. */
const nulEvery = 13;

/** Whether the explorer knows an address: seven in eight, by its last digit, and all with names. */
export const isKnown = (world: World, hash: string): boolean =>
  namesOf(world).has(hash) || !/[8f]$/.test(hash);

/** A miner of the chain: always known to the explorer. */
export const minerOf = ({ draw }: World, index: number): string =>
  `${draw('miner', index).hex(5).slice(0, -1)}a`;

/** What the explorer knows of an address, fixed by its hash. */
export function addressFactsOf(world: World, hash: string) {
  const { draw, oddities, chain } = world;
  const known = namesOf(world).get(hash);
  const random = drawOf(draw, 'address-facts', hash);
  const hasNul = oddities.has('nul-in-name') && random.oneIn(nulEvery);
  const drawn = hasNul || random.oneIn(3) ? `${random.pick(names)} ${random.below(10_000)}` : null;
  const name = known ?? drawn;
  const isContract = random.oneIn(2);
  const implementations = isContract ? drawImplementations(draw, random) : [];
  // Null only beside a name: an object with neither would be the explorer's "unknown".
  const hidesContract = name !== null && random.oneIn(9);
  const hidesVerified = name !== null && random.oneIn(7);
  return {
    // Under the contract's names, in the order in which the service prints them.
    fields: {
      name,
      is_contract: hidesContract ? null : isContract,
      is_scam: false,
      is_verified: hidesVerified ? null : isContract && random.oneIn(2),
      proxy_type: implementations.length > 0 ? random.pick(proxyTypes) : null,
      reputation: 'ok',
      ...(known !== undefined && { is_contract: true, is_verified: true }),
    },
    /** The service prints a NUL character inside the name. */
    hasNul,
    implementations,
    /** Members of the object that the contract does not list. */
    extra:
      chain.generation === 'v12' && random.oneIn(6)
        ? { creator_address_hash: random.hex(5) }
        : null,
  };
}

function drawImplementations(draw: Draw, random: Random) {
  const first = random.below(implementationPool);
  return random.list(2, (position) => ({
    hash: draw('implementation', (first + position) % implementationPool).hex(5),
    name: random.oneIn(4) ? null : `Implementation ${random.below(100)}`,
  }));
}

/** A label as the service prints it. */
export interface Label {
  readonly label: string;
  readonly display_name: string;
}

const tagTypes = ['name', 'generic', 'classifier', 'information', 'note', 'protocol'] as const;

/** What only a block shows of its miner; labels and watchlist names only to their owner's key. */
export function minerFactsOf({ draw }: World, hash: string) {
  const random = drawOf(draw, 'miner-facts', hash);
  return {
    ensDomainName: random.oneIn(2) ? `miner-${random.below(1000)}.eth` : null,
    tags: random.list(3, (position) => {
      const number = random.below(1000);
      return {
        slug: `tag-${position}-${number}`,
        name: `Tag ${number}`,
        tagType: random.pick(tagTypes),
        ordinal: random.below(20),
        meta: random.oneIn(3)
          ? null
          : { bgColor: `#${random.hex(1).slice(2, 8)}`, weight: number / 8 },
      };
    }),
    privateLabels: drawLabels(random, 'mine'),
    publicLabels: drawLabels(random, 'everyone'),
    watchlistNames: drawLabels(random, 'watched'),
  };
}

const drawLabels = (random: Random, word: string): Label[] =>
  random.list(2, (position) => ({
    label: `${word}-${position}-${random.below(1000)}`,
    display_name: `${word} ${position}`,
  }));

/** An address as operations and factories show it: without ens name, metadata and tag lists. */
export function renderAddress(world: World, hash: string, shown: Appearance, shape: Random) {
  const nothing = { ens_domain_name: null, metadata: null };
  if (shown === 'full') return { ...renderFacts(world, hash, shape), ...nothing };
  const address = checksumAddress(hash);
  if (shown === 'bare' || world.chain.generation !== 'v10') return address;
  // What v10 shows of an address that it knows nothing of.
  const facts = { is_contract: false, is_verified: null, name: null, proxy_type: null };
  const rest = { implementations: [], is_scam: false, reputation: 'ok' };
  return { hash: address, ...facts, ...rest, ...nothing };
}

/** An address as a block shows its miner; labels and watchlist names only with the secret key. */
export function renderMiner(world: World, hash: string, withSecretKey: boolean, shape: Random) {
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
  const printed = implementations.map((one) => ({
    [isOld ? 'address' : 'address_hash']: checksumAddress(one.hash),
    name: one.name,
  }));
  return {
    hash: checksumAddress(hash),
    ...printMembers({ ...fields, name }, shape),
    implementations: isOld && printed.length === 0 ? null : printed,
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
  // Emptied whole: to keep an order of use would cost more than the few hashes it saves.
  if (cache.size >= cacheLimit) cache.clear();
  const digest = Buffer.from(keccak_256(Buffer.from(address.slice(2), 'latin1'))).toString('hex');
  const mixed = address.replace(/[a-f]/g, (digit, place: number) =>
    (digest[place - 2] ?? '0') >= '8' ? digit.toUpperCase() : digit,
  );
  cache.set(address, mixed);
  return mixed;
}
