import type { Row } from '../db/row.ts';
import { embeddedAddress, hashOf, type AddressObject, type EmbeddedAddress } from './decode.ts';
import { unknownFields } from './unknown-fields.ts';

/** The scalar columns of `explorer.addresses`. */
export interface AddressRow {
  readonly chain_id: number;
  readonly hash: string;
  readonly name: string | null;
  readonly ens_domain_name: string | null;
  readonly is_contract: boolean | null;
  readonly is_scam: boolean | null;
  readonly is_verified: boolean | null;
  readonly proxy_type: string | null;
  readonly reputation: string | null;
  readonly extra: unknown;
}

/** The lists of an address, each a set of rows in a table of its own. */
export const addressLists = [
  'implementations',
  'metadata_tags',
  'private_labels',
  'public_labels',
  'watchlist_names',
] as const;
export type AddressList = (typeof addressLists)[number];

/**
 * One sight of an address in one page. A list that is null says nothing of the stored one; an
 * empty list says that there is nothing.
 */
export interface AddressObservation {
  readonly page_id: number;
  readonly row: AddressRow;
  readonly lists: Readonly<Record<AddressList, readonly Row[] | null>>;
}

const silence: AddressObservation['lists'] = {
  implementations: null,
  metadata_tags: null,
  private_labels: null,
  public_labels: null,
  watchlist_names: null,
};

/**
 * A bare hash, or an object in which the explorer knows nothing: it prints `is_verified: null`
 * and constants for the rest. Such a stub says only that the address exists.
 */
function isStub(address: AddressObject): boolean {
  return (
    (address.is_verified ?? null) === null &&
    (address.name ?? null) === null &&
    (address.proxy_type ?? null) === null &&
    address.is_contract !== true
  );
}

/** The constant that the service prints as `reputation` where it was not looked up. */
export const reputationConstant = 'ok';

/** A stub's reputation, if it is none that the service prints of every address. */
function saidReputation(shown: AddressObject | null): string | null {
  const reputation = shown?.reputation ?? null;
  return reputation === reputationConstant ? null : reputation;
}

const objectSchema = embeddedAddress.options[1];

/** What an embedded address says, as rows; which of it counts is decided in `merge.ts`. */
export function observeAddress(
  address: EmbeddedAddress,
  raw: unknown,
  place: { readonly chain_id: number; readonly page_id: number },
): AddressObservation {
  const shown = typeof address === 'string' ? null : address;
  const known = shown === null || isStub(shown) ? null : shown;
  return {
    page_id: place.page_id,
    row: {
      chain_id: place.chain_id,
      hash: hashOf(address),
      name: known?.name ?? null,
      ens_domain_name: shown?.ens_domain_name ?? null,
      is_contract: known?.is_contract ?? null,
      is_scam: known?.is_scam ?? (shown?.is_scam === true ? true : null),
      is_verified: known?.is_verified ?? null,
      proxy_type: known?.proxy_type ?? null,
      reputation: known?.reputation ?? saidReputation(shown),
      extra: shown === null ? null : extraOf(shown, raw),
    },
    lists: shown === null ? silence : lists(shown, known !== null),
  };
}

/** What no column holds: unknown fields, and a tag that names another address than its owner. */
function extraOf(address: AddressObject, raw: unknown): unknown {
  const unknown = unknownFields(objectSchema, raw);
  const foreign = (['private_tags', 'public_tags'] as const).flatMap((list) =>
    (address[list] ?? []).flatMap((tag, position) =>
      (tag.address_hash ?? address.hash) === address.hash
        ? []
        : [{ list, position, address_hash: tag.address_hash }],
    ),
  );
  return foreign.length === 0 ? unknown : Object.assign({}, unknown, { foreign_tags: foreign });
}

const spoken = <T>(list: T[] | null | undefined): T[] | null =>
  list === null || list === undefined || list.length === 0 ? null : list;

/** Implementations change both ways; the other lists are empty or null wherever they are not told. */
function lists(address: AddressObject, informed: boolean): AddressObservation['lists'] {
  return {
    implementations:
      informed || spoken(address.implementations) !== null
        ? (address.implementations ?? []).map((implementation, position) => ({
            position,
            implementation_hash: implementation.address_hash ?? implementation.address ?? null,
            name: implementation.name ?? null,
          }))
        : null,
    metadata_tags:
      address.metadata === null || address.metadata === undefined
        ? null
        : (address.metadata.tags ?? []).map((tag, position) => ({
            position,
            slug: tag.slug ?? null,
            name: tag.name ?? null,
            tag_type: tag.tagType ?? null,
            ordinal: tag.ordinal ?? null,
            meta: tag.meta ?? null,
          })),
    private_labels: labels(spoken(address.private_tags), 'private'),
    public_labels: labels(spoken(address.public_tags), 'public'),
    watchlist_names:
      spoken(address.watchlist_names)?.map((name, position) => ({
        position,
        label: name.label ?? null,
        display_name: name.display_name ?? null,
      })) ?? null,
  };
}

function labels(tags: AddressObject['public_tags'] | null, kind: string): readonly Row[] | null {
  return (
    tags?.map((tag, position) => ({
      kind,
      position,
      label: tag.label ?? null,
      display_name: tag.display_name ?? null,
    })) ?? null
  );
}
