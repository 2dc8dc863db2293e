import { z } from 'zod';
import { generational, notes, textOf } from '../drift/field-notes.ts';

/**
 * Twenty bytes of hex, stored in lower case: the service prints EIP-55 mixed case, and the same
 * address must be one row however it was printed.
 */
export const addressHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'expected an address: 0x and 40 hex digits')
  .transform((hash) => hash.toLowerCase());

const text = z.string().nullish();
const flag = z.boolean().nullish();

const implementation = z.looseObject({
  address_hash: generational(addressHash.nullish()),
  // The name of `address_hash` in older versions of the service.
  address: generational(addressHash.nullish(), 'address_hash'),
  name: text,
});

const metadataTag = z.looseObject({
  slug: text,
  name: text,
  tagType: textOf('name', 'generic', 'classifier', 'information', 'note', 'protocol'),
  ordinal: z.number().int().nullish(),
  // `unknown` alone would refuse a tag that leaves it out.
  meta: z.unknown().optional(),
});

const tag = z.looseObject({ address_hash: addressHash.nullish(), label: text, display_name: text });
const watchlistName = z.looseObject({ label: text, display_name: text });

const proxyType = textOf(
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
);

const addressObject = z.looseObject({
  hash: addressHash,
  name: text,
  ens_domain_name: text,
  is_contract: flag,
  is_scam: flag,
  is_verified: flag,
  proxy_type: proxyType,
  reputation: textOf('ok', 'scam'),
  implementations: generational(z.array(implementation.nullish()).nullish()),
  metadata: z.looseObject({ tags: z.array(metadataTag.nullish()).nullish() }).nullish(),
  private_tags: generational(z.array(tag.nullish()).nullish()),
  public_tags: generational(z.array(tag.nullish()).nullish()),
  watchlist_names: generational(z.array(watchlistName.nullish()).nullish()),
});
export type AddressObject = z.infer<typeof addressObject>;

/**
 * An address embedded in an item: the object of the spec's table 2.2, or the bare hash where the
 * explorer knows nothing of the address.
 */
export const embeddedAddress = z
  .union([addressHash, addressObject])
  .register(notes, { isOwnRow: true });
export type EmbeddedAddress = z.infer<typeof embeddedAddress>;

/** The hash alone, lower case. */
export function hashOf(address: EmbeddedAddress): string {
  return typeof address === 'string' ? address : address.hash;
}
