import { z } from 'zod';
import type { Row } from '../db/row.ts';
import {
  generational,
  isUnread,
  notes,
  textOf,
  type Unread,
  unreadBelow,
  unreadFields,
  unreadMembers,
} from '../drift/fields.ts';

/**
 * Twenty bytes of hex, stored in lower case: the service prints EIP-55 mixed case, and the same
 * address must be one row however it was printed.
 */
export const addressHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'expected an address: 0x and 40 hex digits')
  .transform((hash) => hash.toLowerCase());

const nullableText = z.string().nullish();
const nullableFlag = z.boolean().nullish();

const implementationObject = z.looseObject({
  address_hash: generational(addressHash.nullish()),
  // The name of `address_hash` in older versions of the service.
  address: generational(addressHash.nullish(), 'address_hash'),
  name: nullableText,
});

const metadataTag = z.looseObject({
  slug: nullableText,
  name: nullableText,
  tagType: textOf('name', 'generic', 'classifier', 'information', 'note', 'protocol'),
  ordinal: z.number().int().nullish(),
  // `unknown` alone would refuse a tag that leaves it out.
  meta: z.unknown().optional(),
});

const labelTag = z.looseObject({
  address_hash: addressHash.nullish(),
  label: nullableText,
  display_name: nullableText,
});
const watchlistName = z.looseObject({ label: nullableText, display_name: nullableText });

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
  name: nullableText,
  ens_domain_name: nullableText,
  is_contract: nullableFlag,
  is_scam: nullableFlag,
  is_verified: nullableFlag,
  proxy_type: proxyType,
  reputation: textOf('ok', 'scam'),
  implementations: generational(z.array(implementationObject.nullish()).nullish()),
  metadata: z.looseObject({ tags: z.array(metadataTag.nullish()).nullish() }).nullish(),
  private_tags: generational(z.array(labelTag.nullish()).nullish()),
  public_tags: generational(z.array(labelTag.nullish()).nullish()),
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

export type AddressColumn = Exclude<keyof AddressRow, 'chain_id' | 'hash'>;

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
 * One observation of an address in one page. A list that is null says nothing of the stored one; an
 * empty list says that there is nothing.
 */
export interface AddressObservation {
  readonly page_id: number;
  readonly row: AddressRow;
  readonly lists: Readonly<Record<AddressList, readonly Row[] | null>>;
  /** Columns that the observation does not report, though a known address has them. */
  readonly missing: readonly AddressColumn[];
  /** Positions of those members of a list that were not read whole; absent where all were. */
  readonly inPart: Readonly<Partial<Record<AddressList, readonly number[]>>>;
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

/** An address as an item shows it. */
interface ShownAddress {
  readonly address: EmbeddedAddress;
  /** What no field of it names. */
  readonly extra: unknown;
  readonly unread: Unread;
}

/** What an embedded address says, as rows; which of it counts is decided in `merge.ts`. */
export function observeAddress(
  { address, extra, unread }: ShownAddress,
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
      extra: shown === null ? null : extraOf(shown, extra),
    },
    lists: shown === null ? silence : lists(shown, known !== null, unread),
    missing: known === null ? [] : unreadColumns(unread),
    inPart: shown === null ? wholeLists : listsInPart(shown, unread),
  };
}

/** What no column holds: unknown fields, and a tag that names another address than its owner. */
function extraOf(address: AddressObject, unknown: unknown): unknown {
  const foreign = (['private_tags', 'public_tags'] as const).flatMap((list) =>
    (address[list] ?? []).flatMap((tag, position) =>
      (tag?.address_hash ?? address.hash) === address.hash
        ? []
        : [{ list, position, address_hash: tag?.address_hash }],
    ),
  );
  return foreign.length === 0 ? unknown : Object.assign({}, unknown, { foreign_tags: foreign });
}

/** The fields of an address that its merge takes from the newest observation, null or not. */
const columns: ReadonlySet<string> = new Set<AddressColumn>(['name', 'is_verified', 'proxy_type']);

const unreadColumns = (unread: Unread) =>
  unreadFields(unread).filter((field): field is AddressColumn => columns.has(field));

const spoken = <T>(list: T[] | null | undefined): T[] | null =>
  list === null || list === undefined || list.length === 0 ? null : list;

/** Members that are null say nothing; their neighbours keep their positions. */
const members = <T, R>(
  list: readonly (T | null | undefined)[],
  row: (member: T, position: number) => R,
): R[] =>
  list.flatMap((member, position) =>
    member === null || member === undefined ? [] : [row(member, position)],
  );

/** Implementations change both ways; the other lists are empty or null wherever they are not reported. */
function lists(
  address: AddressObject,
  informed: boolean,
  unread: Unread,
): AddressObservation['lists'] {
  const { metadata, watchlist_names } = address;
  const hasTags = (metadata ?? null) !== null && !isUnread(unread, 'metadata', 'tags');
  const isTold = informed && !isUnread(unread, 'implementations');
  const names = spoken(watchlist_names);
  return {
    implementations:
      isTold || spoken(address.implementations) !== null
        ? members(address.implementations ?? [], (implementation, position) => ({
            position,
            implementation_hash: implementation.address_hash ?? implementation.address ?? null,
            name: implementation.name ?? null,
          }))
        : null,
    metadata_tags: hasTags
      ? members(metadata?.tags ?? [], (tag, position) => ({
          position,
          slug: tag.slug ?? null,
          name: tag.name ?? null,
          tag_type: tag.tagType ?? null,
          ordinal: tag.ordinal ?? null,
          meta: tag.meta ?? null,
        }))
      : null,
    private_labels: labels(spoken(address.private_tags), 'private'),
    public_labels: labels(spoken(address.public_tags), 'public'),
    watchlist_names:
      names === null
        ? null
        : members(names, (name, position) => ({
            position,
            label: name.label ?? null,
            display_name: name.display_name ?? null,
          })),
  };
}

function labels(tags: AddressObject['public_tags'] | null, kind: string): readonly Row[] | null {
  if (tags === null || tags === undefined) return null;
  return members(tags, (tag, position) => ({
    kind,
    position,
    label: tag.label ?? null,
    display_name: tag.display_name ?? null,
  }));
}

/** Which lists an observation reports in part: the known value of a member that was not read stays. */
function listsInPart(address: AddressObject, unread: Unread): AddressObservation['inPart'] {
  const positions = {
    implementations: unreadMembers(address.implementations, unreadBelow(unread, 'implementations')),
    metadata_tags: unreadMembers(address.metadata?.tags, unreadBelow(unread, 'metadata', 'tags')),
    private_labels: unreadMembers(address.private_tags, unreadBelow(unread, 'private_tags')),
    public_labels: unreadMembers(address.public_tags, unreadBelow(unread, 'public_tags')),
    watchlist_names: unreadMembers(address.watchlist_names, unreadBelow(unread, 'watchlist_names')),
  } as const satisfies Record<AddressList, readonly number[]>;
  const inPart = addressLists.filter((list) => positions[list].length > 0);
  if (inPart.length === 0) return wholeLists;
  return Object.fromEntries(inPart.map((list) => [list, positions[list]]));
}

const wholeLists: AddressObservation['inPart'] = {};
