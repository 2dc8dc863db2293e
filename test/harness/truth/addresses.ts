import {
  addressFactsOf,
  minerFactsOf,
  type Appearance,
  type Label,
} from '../../../simulator/addresses.ts';
import type { World } from '../../../simulator/world.ts';

/** A row by its columns: absent values null, big integers as decimal strings, times as ISO text. */
export type Row = Record<string, unknown>;

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

/** Tables that embedded addresses fill. */
export type AddressTable =
  | 'addresses'
  | 'address_implementations'
  | 'address_metadata_tags'
  | 'address_labels'
  | 'address_watchlist_names';

/** Rows of every address that was seen, and of its lists. */
export function addressRows(
  world: World,
  observations: Observations,
  withSecretKey: boolean,
): Record<AddressTable, Row[]> {
  const seen = [...observations.all];
  const full = seen.filter(([, observation]) => observation.isFull).map(([hash]) => hash);
  const miners = seen.filter(([, observation]) => observation.isMiner).map(([hash]) => hash);
  const owners = withSecretKey ? miners : [];
  return {
    addresses: seen.map(([hash, observation]) => addressRow(world, hash, observation)),
    address_implementations: full.flatMap((hash) => implementationRows(world, hash)),
    address_metadata_tags: miners.flatMap((hash) => tagRows(world, hash)),
    address_labels: owners.flatMap((hash) => {
      const { privateLabels, publicLabels } = minerFactsOf(world, hash);
      return [
        ...labelRows(hash, privateLabels).map((row) => ({ ...row, kind: 'private' })),
        ...labelRows(hash, publicLabels).map((row) => ({ ...row, kind: 'public' })),
      ];
    }),
    address_watchlist_names: owners.flatMap((hash) =>
      labelRows(hash, minerFactsOf(world, hash).watchlistNames),
    ),
  };
}

/** Of an address that was seen as its hash alone, only that is stored. */
function addressRow(world: World, hash: string, { isFull, isMiner }: Observation): Row {
  const { fields, extra } = addressFactsOf(world, hash);
  const known = Object.entries(fields).map(([name, value]) => [name, isFull ? value : null]);
  return {
    hash,
    ...(Object.fromEntries(known) as Row),
    ens_domain_name: isMiner ? minerFactsOf(world, hash).ensDomainName : null,
    extra: isFull ? extra : null,
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
