import { addressFactsOf, minerFactsOf, type Label } from '../../simulator/addresses.ts';
import type { World } from '../../simulator/world.ts';

/** A row by its columns: absent values null, big integers as decimal strings, times as ISO text. */
export type Row = Record<string, unknown>;

/** How addresses were seen within a scope: each as the most that it was seen as. */
export type Observations = ReturnType<typeof createObservations>;

const appearances = ['bare', 'unknown', 'full', 'miner'] as const;
type Seen = (typeof appearances)[number];

/** Whether one was seen as an object with its facts, which a miner is always. */
const isFull = (seen: Seen) => seen === 'full' || seen === 'miner';

/** No address seen yet. */
export function createObservations() {
  const all = new Map<string, Seen>();
  return {
    all: all as ReadonlyMap<string, Seen>,
    see(hash: string, shown: Seen) {
      const known = all.get(hash) ?? shown;
      all.set(hash, appearances.indexOf(shown) > appearances.indexOf(known) ? shown : known);
    },
  };
}

/** Rows of every address that was seen, and of its lists. */
export function addressRows(world: World, { all }: Observations, withSecretKey: boolean) {
  const seen = [...all];
  const full = seen.filter(([, shown]) => isFull(shown)).map(([hash]) => hash);
  const miners = seen.filter(([, shown]) => shown === 'miner').map(([hash]) => hash);
  const owners = withSecretKey ? miners : [];
  return {
    addresses: seen.map(([hash, shown]) => addressRow(world, hash, shown)),
    address_implementations: full.flatMap((hash) => implementationRows(world, hash)),
    address_metadata_tags: miners.flatMap((hash) => tagRows(world, hash)),
    address_labels: owners.flatMap((hash) => {
      const { privateLabels, publicLabels } = minerFactsOf(world, hash);
      return [
        ...labelRows(hash, privateLabels).map((row): Row => ({ ...row, kind: 'private' })),
        ...labelRows(hash, publicLabels).map((row): Row => ({ ...row, kind: 'public' })),
      ];
    }),
    address_watchlist_names: owners.flatMap((hash) =>
      labelRows(hash, minerFactsOf(world, hash).watchlistNames),
    ),
  };
}

/** Of an address that was seen as its hash alone, only that is stored. */
function addressRow(world: World, hash: string, shown: Seen): Row {
  const { fields, extra } = addressFactsOf(world, hash);
  const known = Object.entries(fields).map(([name, value]) => [name, isFull(shown) ? value : null]);
  return {
    hash,
    ...(Object.fromEntries(known) as Row),
    ens_domain_name: shown === 'miner' ? minerFactsOf(world, hash).ensDomainName : null,
    extra: isFull(shown) ? extra : null,
  };
}

function implementationRows(world: World, address: string): Row[] {
  return addressFactsOf(world, address).implementations.map(({ hash, name }, position) => ({
    address_hash: address,
    position,
    implementation_hash: hash,
    name,
  }));
}

const tagRows = (world: World, address: string): Row[] =>
  minerFactsOf(world, address).tags.map(({ tagType, ...tag }, position) => ({
    address_hash: address,
    position,
    tag_type: tagType,
    ...tag,
  }));

const labelRows = (address: string, labels: readonly Label[]): Row[] =>
  labels.map((label, position) => ({ address_hash: address, position, ...label }));
