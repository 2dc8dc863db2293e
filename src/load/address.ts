import type { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Row } from '../db/transaction.ts';
import {
  generational,
  isUnread,
  notes,
  textOf,
  type Unread,
  unreadBelow,
  unreadMembers,
  usually,
} from '../drift/fields.ts';
import {
  type addresses,
  addressImplementations,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
} from './tables.ts';

const lowerCase = (text: string) => text.toLowerCase();

/** Hex in lower case, however the service prints it. */
export function hexOf(digits: number, what: string) {
  const form = new RegExp(`^0x[0-9a-fA-F]{${digits}}$`);
  const hex = z.string().regex(form, `expected ${what}: 0x and ${digits} hex digits`);
  return usually(hex.transform(lowerCase), form, lowerCase);
}

/** The service prints EIP-55; one address is one row. */
export const addressHash = hexOf(40, 'an address');

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

/** The address object of the spec's table 2.2, or the bare hash of an address without data. */
export const embeddedAddress = z
  .union([addressHash, addressObject])
  .register(notes, { isOwnRow: true });
export type EmbeddedAddress = z.infer<typeof embeddedAddress>;

/** The hash alone, lower case. */
export function addressHashOf(address: EmbeddedAddress): string {
  return typeof address === 'string' ? address : address.hash;
}

/** The scalar columns of `explorer.addresses`. */
export type AddressRow = Omit<
  typeof addresses.$inferSelect,
  'first_seen_at' | 'updated_at' | 'page_id'
>;

/** A list of an address: where it stands, its table, and each column's field by its names. */
interface ListOfAddress {
  readonly path: readonly [string, ...string[]];
  readonly table: PgTable;
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** Of lists that share a table, which of its rows are theirs. */
  readonly kind?: string;
  /** Whether an address may say that the list is empty: most print it so wherever it was not looked up. */
  readonly mayBeEmpty?: (address: AddressObject, isInformed: boolean) => boolean;
}

const label = { label: ['label'], display_name: ['display_name'] };
const addressLists = {
  implementations: {
    path: ['implementations'],
    table: addressImplementations,
    columns: { implementation_hash: ['address_hash', 'address'], name: ['name'] },
    mayBeEmpty: (_address, isInformed) => isInformed,
  },
  metadata_tags: {
    path: ['metadata', 'tags'],
    table: addressMetadataTags,
    columns: {
      slug: ['slug'],
      name: ['name'],
      tag_type: ['tagType'],
      ordinal: ['ordinal'],
      meta: ['meta'],
    },
    mayBeEmpty: ({ metadata }) => (metadata ?? null) !== null,
  },
  private_labels: { path: ['private_tags'], table: addressLabels, columns: label, kind: 'private' },
  public_labels: { path: ['public_tags'], table: addressLabels, columns: label, kind: 'public' },
  watchlist_names: { path: ['watchlist_names'], table: addressWatchlistNames, columns: label },
} as const satisfies Record<string, ListOfAddress>;
export type AddressList = keyof typeof addressLists;
export const addressListNames = Object.keys(addressLists) as AddressList[];

export const listOf = (name: AddressList): ListOfAddress => addressLists[name];

export function forLists<Value>(valueOf: (name: AddressList) => Value) {
  const values = {} as Record<AddressList, Value>;
  for (const name of addressListNames) values[name] = valueOf(name);
  return values;
}

export interface ReportedList {
  readonly rows: readonly Row[];
  /** Positions of members that were not read whole. */
  readonly unread: readonly number[];
}

/** One observation of an address. A null list says nothing; an empty one says there is nothing. */
export interface AddressObservation {
  readonly page_id: number;
  readonly row: AddressRow;
  readonly lists: Readonly<Record<AddressList, ReportedList | null>>;
  /** Columns that the observation does not report, though a known address has them. */
  readonly missing: readonly string[];
}

const silence = forLists(() => null);

/** A bare hash, or `is_verified: null` and constants: it says only that the address exists. */
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

interface ShownAddress {
  readonly address: EmbeddedAddress;
  /** What no field of it names. */
  readonly extra: unknown;
  readonly unread: Unread;
}

/** What an embedded address says, as rows; which of it counts is decided in `address-merge.ts`. */
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
      hash: addressHashOf(address),
      name: known?.name ?? null,
      ens_domain_name: shown?.ens_domain_name ?? null,
      is_contract: known?.is_contract ?? null,
      is_scam: known?.is_scam ?? (shown?.is_scam === true ? true : null),
      is_verified: known?.is_verified ?? null,
      proxy_type: known?.proxy_type ?? null,
      reputation: known?.reputation ?? saidReputation(shown),
      extra: shown === null ? null : extraOf(shown, extra),
    },
    lists: shown === null ? silence : observeLists(shown, known !== null, unread),
    missing: known === null ? [] : latest.filter((field) => isUnread(unread, field)),
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
const latest = ['name', 'is_verified', 'proxy_type'] as const;

type Member = Readonly<Record<string, unknown>> | null | undefined;

function membersOf(address: AddressObject, { path: [field, inner] }: ListOfAddress) {
  const value = (address as Readonly<Record<string, unknown>>)[field];
  return (inner === undefined ? value : (value as Member)?.[inner]) as
    readonly Member[] | null | undefined;
}

const observeLists = (address: AddressObject, isInformed: boolean, unread: Unread) =>
  forLists((name): ReportedList | null => {
    const list = listOf(name);
    const members = membersOf(address, list) ?? [];
    const mayBeEmpty = list.mayBeEmpty?.(address, isInformed) ?? false;
    const isReported = members.length > 0 || (mayBeEmpty && !isUnread(unread, ...list.path));
    if (!isReported) return null;
    return {
      rows: rowsOf(members, list),
      unread: unreadMembers(members, unreadBelow(unread, ...list.path)),
    };
  });

/** Members that are null say nothing; their neighbours keep their positions. */
const rowsOf = (members: readonly Member[], { kind, columns }: ListOfAddress): Row[] =>
  members.flatMap((member, position) => {
    if (member === null || member === undefined) return [];
    const row: Record<string, unknown> = kind === undefined ? { position } : { kind, position };
    for (const [column, names] of Object.entries(columns)) {
      const name = names.find((one) => (member[one] ?? null) !== null);
      row[column] = name === undefined ? null : member[name];
    }
    return [row];
  });
