import type { World } from './chain.ts';
import { feeVaultTags } from './directory.ts';
import { Random } from './random.ts';

/** What only a block shows of its miner; labels and watchlist names only to their owner's key. */
export interface MinerFacts {
  readonly ensDomainName: string | null;
  readonly tags: readonly MetadataTag[];
  readonly privateLabels: readonly Label[];
  readonly publicLabels: readonly Label[];
  readonly watchlistNames: readonly Label[];
}

export interface MetadataTag {
  readonly slug: string;
  readonly name: string;
  readonly tagType: string;
  readonly ordinal: number;
  readonly meta: Readonly<Record<string, unknown>> | null;
}

export interface Label {
  readonly label: string;
  readonly displayName: string;
}

const tagTypes = ['name', 'generic', 'classifier', 'information', 'note', 'protocol'] as const;

/** With a calendar there is one miner. */
const feeVaultFacts: MinerFacts = {
  ensDomainName: null,
  tags: feeVaultTags,
  privateLabels: [],
  publicLabels: [],
  watchlistNames: [],
};

/** The miner facts of an address, fixed by its hash. */
export function minerFactsOf(world: World, hash: string): MinerFacts {
  if (world.lived !== null) return feeVaultFacts;
  const random = new Random(world.streams['miner-facts'], Number.parseInt(hash.slice(-8), 16));
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
    displayName: `${word} ${position}`,
  }));
}
