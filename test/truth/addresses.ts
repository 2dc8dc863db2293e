import { addressFactsOf } from '../../simulator/address-facts.ts';
import type { World } from '../../simulator/chain.ts';
import { minerFactsOf, type Label } from '../../simulator/miner-facts.ts';
import type { Row } from './row.ts';
import type { Observation, Observations } from './observations.ts';

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

function addressRow(world: World, hash: string, { isFull, isMiner }: Observation): Row {
  const facts = isFull ? addressFactsOf(world, hash) : null;
  return {
    hash,
    name: facts?.name ?? null,
    ens_domain_name: isMiner ? minerFactsOf(world, hash).ensDomainName : null,
    is_contract: facts?.isContract ?? null,
    is_scam: isFull ? false : null,
    is_verified: facts?.isVerified ?? null,
    proxy_type: facts?.proxyType ?? null,
    reputation: isFull ? 'ok' : null,
    extra: facts?.extra ?? null,
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

function tagRows(world: World, address: string): Row[] {
  return minerFactsOf(world, address).tags.map(
    ({ slug, name, tagType, ordinal, meta }, position) => ({
      address_hash: address,
      position,
      slug,
      name,
      tag_type: tagType,
      ordinal,
      meta,
    }),
  );
}

function labelRows(address: string, labels: readonly Label[]): Row[] {
  return labels.map(({ label, displayName }, position) => ({
    address_hash: address,
    position,
    label,
    display_name: displayName,
  }));
}
