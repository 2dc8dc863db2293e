import { addressFactsOf, type AddressFacts, type Appearance } from './address-facts.ts';
import { checksumAddress } from './checksum.ts';
import type { World } from './chain.ts';
import { minerFactsOf, type Label, type MetadataTag } from './miner-facts.ts';
import type { Random } from './random.ts';

/** Nothing to say: the service prints null, or leaves the member out. */
export function printNothing(shape: Random): null | undefined {
  return shape.oneIn(2) ? null : undefined;
}

/** An address as operations and factories show it: without ens name, metadata and tag lists. */
export function renderAddress(
  world: World,
  hash: string,
  shown: Appearance,
  shape: Random,
): unknown {
  if (shown === 'full') {
    const facts = addressFactsOf(world, hash);
    return { ...renderFacts(world, facts, shape), ens_domain_name: null, metadata: null };
  }
  if (shown === 'bare' || world.chain.generation !== 'v10') return checksumAddress(hash);
  return renderStub(hash);
}

/** An address as a block shows its miner; labels and watchlist names only with the secret key. */
export function renderMiner(
  world: World,
  hash: string,
  withSecretKey: boolean,
  shape: Random,
): unknown {
  const miner = minerFactsOf(world, hash);
  const labels = (list: readonly Label[]) =>
    withSecretKey ? list.map((label) => renderLabel(hash, label)) : [];
  return {
    ...renderFacts(world, addressFactsOf(world, hash), shape),
    ens_domain_name: miner.ensDomainName ?? printNothing(shape),
    metadata: miner.tags.length > 0 ? { tags: miner.tags.map(renderTag) } : printNothing(shape),
    private_tags: labels(miner.privateLabels),
    public_tags: labels(miner.publicLabels),
    watchlist_names: withSecretKey ? miner.watchlistNames.map(renderWatchlistName) : [],
  };
}

function renderFacts(world: World, facts: AddressFacts, shape: Random): Record<string, unknown> {
  return {
    hash: checksumAddress(facts.hash),
    name: renderName(facts) ?? printNothing(shape),
    is_contract: facts.isContract ?? printNothing(shape),
    is_scam: false,
    is_verified: facts.isVerified ?? printNothing(shape),
    proxy_type: facts.proxyType ?? printNothing(shape),
    reputation: 'ok',
    implementations: renderImplementations(world, facts),
    ...facts.extra,
  };
}

function renderName({ name, hasNul }: AddressFacts): string | null {
  return name !== null && hasNul ? name.replace(' ', ' \u0000') : name;
}

function renderImplementations(world: World, { implementations }: AddressFacts): unknown {
  if (world.chain.generation !== 'v10') {
    return implementations.map(({ hash, name }) => ({ address_hash: checksumAddress(hash), name }));
  }
  if (implementations.length === 0) return null;
  return implementations.map(({ hash, name }) => ({ address: checksumAddress(hash), name }));
}

/** What v10 shows of an address that it knows nothing of. */
function renderStub(hash: string): Record<string, unknown> {
  return {
    hash: checksumAddress(hash),
    is_contract: false,
    is_verified: null,
    name: null,
    proxy_type: null,
    implementations: [],
    is_scam: false,
    reputation: 'ok',
    ens_domain_name: null,
    metadata: null,
  };
}

function renderTag({ slug, name, tagType, ordinal, meta }: MetadataTag): Record<string, unknown> {
  return { slug, name, tagType, ordinal, meta };
}

function renderLabel(hash: string, { label, displayName }: Label): Record<string, unknown> {
  return { address_hash: checksumAddress(hash), label, display_name: displayName };
}

function renderWatchlistName({ label, displayName }: Label): Record<string, unknown> {
  return { label, display_name: displayName };
}
