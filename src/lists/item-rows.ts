import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Row } from '../db/transaction.ts';
import type { ValidItem } from './decode.ts';
import {
  isUnread,
  type Outline,
  outlineOf,
  type Unread,
  unreadBelow,
  unreadMembers,
  usually,
} from '../drift/fields.ts';
import { type ExactNumber, integerText, isExactNumber } from '../exact-number.ts';
import { type EmbeddedAddress, addressHashOf, hexOf, observeAddress } from '../load/address.ts';
import type { ChildLink } from '../load/upsert.ts';
import type { ItemRows, ItemPosition, Scope } from './operation.ts';
import { keyText } from './positions.ts';

/** Columns that no field reports, and what they hold by the kind of list. */
export type ColumnsOfKind<Walk extends Scope> = Readonly<Record<string, (scope: Walk) => unknown>>;

type Fields = Record<string, unknown>;

/** How an item becomes rows: what `Operation` calls `normalise`. `heightColumn` says where an item is in an ordered list. */
export function normaliser(
  { key }: Pick<DeclaredItem, 'key'>,
  layout: ItemLayout,
  columnsOfKind: ColumnsOfKind<never>,
  heightColumn: string | null,
) {
  const { columns, parts } = layout;
  const fixed = Object.entries(columnsOfKind);
  const all = ['chain_id', ...columns.map(({ column }) => column), ...Object.keys(columnsOfKind)];
  // Copied for each item, and then filled: an object that grows by each column takes longer.
  const blank = Object.fromEntries([...all, 'extra'].map((column) => [column, null]));
  const addresses = columns.filter(({ isAddress }) => isAddress);
  return (decoded: ValidItem, place: ItemPosition): ItemRows => {
    const { chain_id, scope, position } = place;
    const item = decoded.item as Fields;
    const row = lay({ ...blank, chain_id }, columns, item);
    for (const [column, value] of fixed) row[column] = value(scope as never);
    row['extra'] = decoded.extra;
    const id = key.map((column) => row[column] as string | number);
    if (id.some((part) => part === null)) {
      throw new Error(`the schema lets no item pass without its ${key.join()}`);
    }
    return {
      key: keyText(id),
      row,
      children: parts.map((part) => rowsOf(part, item, [chain_id, ...id])),
      addresses: observed(addresses, item, decoded, place),
      missing: missingOf(layout, item, decoded.unread),
      position,
      height: heightColumn === null ? null : (row[heightColumn] as number | null),
    };
  };
}

const reportedName = (item: Fields, names: readonly string[]) =>
  names.find((name) => (item[name] ?? null) !== null);

function reported(item: Fields, names: readonly string[]): unknown {
  const name = reportedName(item, names);
  return name === undefined ? null : item[name];
}

const innerOf = (item: Fields, name: string) => (item[name] ?? {}) as Fields;

function lay(row: Fields, columns: readonly Column[], item: Fields): Fields {
  for (const { column, within, names, isAddress } of columns) {
    // A reduce for each column takes a tenth of the time of a block.
    const owner = within.length === 0 ? item : within.reduce(innerOf, item);
    const value = reported(owner, names);
    row[column] = isAddress && value !== null ? addressHashOf(value as EmbeddedAddress) : value;
  }
  return row;
}

/** A member that is null says nothing; its neighbours keep their positions. */
function rowsOf(part: Part, item: Fields, id: readonly unknown[]): readonly Row[] {
  const value = reported(item, part.names);
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  const parent = Object.fromEntries(part.setKey.map((column, at) => [column, id[at]]));
  if (!part.isList) return [lay(parent, part.columns, value as Fields)];
  return (value as readonly (Fields | string | null)[]).flatMap((member, position) => {
    if (member === null) return [];
    const fields = typeof member === 'string' ? { hash: member } : member;
    return [lay({ ...parent, position }, part.columns, fields)];
  });
}

const observed = (
  columns: readonly Column[],
  item: Fields,
  { extraOf, unread }: Pick<ValidItem, 'extraOf' | 'unread'>,
  place: ItemPosition,
) =>
  columns.flatMap(({ names }) => {
    const name = reportedName(item, names);
    if (name === undefined) return [];
    const shown = { address: item[name] as EmbeddedAddress, extra: extraOf.get(name) };
    return [observeAddress({ ...shown, unread: unreadBelow(unread, name) }, place)];
  });

function missingOf(
  { columns, parts }: ItemLayout,
  item: Fields,
  unread: Unread,
): ItemRows['missing'] {
  if (parts.length === 0 && unread.length === 0) return null;
  const isAbsent = ({ names }: Column) => names.some((name) => isUnread(unread, name));
  const absent = unread.length === 0 ? [] : columns.filter(isAbsent);
  const children = parts.map((part) => missingRows(part, item, unread));
  const isWhole = absent.length === 0 && children.every(({ length }) => length === 0);
  return isWhole ? null : { columns: absent.map(({ column }) => column), children };
}

function missingRows(
  { names, isList }: Part,
  item: Fields,
  unread: Unread,
): readonly number[] | 'all' {
  const isReported = reportedName(item, names) !== undefined;
  if (!isReported && names.some((name) => isUnread(unread, name))) return 'all';
  return names.flatMap((name) => {
    const below = unreadBelow(unread, name);
    if (!isList) return below.slice(0, 1).map(() => 0);
    return unreadMembers(item[name] as readonly unknown[] | null | undefined, below);
  });
}

export interface DeclaredItem {
  readonly item: z.ZodType;
  readonly table: PgTable;
  /** The columns that identify a chain's items. */
  readonly key: readonly string[];
  /** The columns of the fields whose column has another name. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The tables of the fields that are lists or objects; their foreign key leads to the item's row. */
  readonly children?: Readonly<Record<string, PgTable>>;
}

/** A column, and the names that generations of the API have for its field: the first that is reported counts. */
export interface Column {
  readonly column: string;
  /** The objects within an item that lead to its field; its column begins with their names. */
  readonly within: readonly string[];
  readonly names: readonly string[];
  /** An embedded address is its hash here, and else a row of its own. */
  readonly isAddress: boolean;
}

export interface Part extends ChildLink {
  readonly columns: readonly Column[];
  readonly names: readonly string[];
  /** Then its rows have positions. */
  readonly isList: boolean;
}

export interface ItemLayout {
  readonly columns: readonly Column[];
  readonly parts: readonly Part[];
}

/** Draws from its schema how an item becomes rows. */
export function layoutOfItem(declared: DeclaredItem): ItemLayout {
  const fields = fieldsOf(outlineOf(declared.item));
  const nameOf = (name: string) => declared.columns?.[name] ?? name;
  return {
    columns: columnsOf(declared.table, fields.filter(isValue), nameOf),
    parts: fields.filter((field) => !isValue(field)).map((field) => partOf(field, declared)),
  };
}

const fieldsOf = ({ fields }: Outline) =>
  [...(fields?.values() ?? [])].filter(({ sameAs }) => sameAs === undefined);

const isValue = ({ fields, element, isOwnRow }: Outline) =>
  isOwnRow === true || (fields === null && element === null);

/** A field without a column would be lost: it is not among the unknown ones, which are kept. */
function columnsOf(
  table: PgTable,
  fields: readonly Outline[],
  nameOf: (name: string) => string,
  within: readonly string[] = [],
): readonly Column[] {
  const known = getTableColumns(table);
  return fields.flatMap((field) => {
    const { name, names, isOwnRow: isAddress = false } = field;
    if (!isValue(field)) {
      const ofInner = (inner: string) => nameOf(`${name}_${inner}`);
      return columnsOf(table, fieldsOf(field), ofInner, [...within, name]);
    }
    const column = nameOf(isAddress ? `${name}_hash` : name);
    if (!(column in known)) throw new Error(`${names.join()}: the table has no ${column}`);
    return { column, within, names, isAddress };
  });
}

function partOf(field: Outline, { table: own, children }: DeclaredItem): Part {
  const { name, names, element } = field;
  const table = children?.[name];
  if (table === undefined) throw new Error(`the field ${name} has no table`);
  const [reference] = getTableConfig(table).foreignKeys.map((key) => key.reference());
  if (reference?.foreignTable !== own) {
    throw new Error(`the rows of ${name} don't refer to their item`);
  }
  const member = element ?? field;
  // A member that is no object is a hash.
  const fields = member.fields ? fieldsOf(member) : [{ ...member, name: 'hash', names: ['hash'] }];
  const columns = columnsOf(table, fields, (column) => column);
  const setKey = reference.columns.map((column) => column.name);
  const link: ChildLink = { table, parent: own, setKey, newness: 'parent' };
  return { ...link, columns, names, isList: element !== null };
}

/** Any field but the identity may be null or absent; both mean that the value is missing. */
export const anyText = z.string().nullish();
export const flag = z.boolean().nullish();

/** The nearest double, which is what its column holds, where the service reports more digits. */
const nearestDouble = z
  .custom<ExactNumber>(isExactNumber)
  .transform(({ rawJSON }) => Number(rawJSON))
  .pipe(z.number());
export const percentage = z.union([z.number(), nearestDouble]).nullish();

/** A count, height or id: none is negative, or beyond 2^53. */
export const count = z.int().nonnegative().nullish();

/** Thirty-two bytes of hex, stored in lower case. */
export const hash = hexOf(64, 'a hash');

/** A block height or batch number as the JSON integer it is in the API. */
export const height = z.number().int().nonnegative();

const largestWei = String(2n ** 256n - 1n);

const digits = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'expected an integer in base 10, not negative, below 2^256')
  .refine(
    (value) => value.length < largestWei.length || value <= largestWei,
    'expected an integer below 2^256',
  );

/** A JSON number in the place of digits, which loses none of them. */
const digitsOfNumber = z.unknown().transform((value) => integerText(value) ?? value);

const anyDigits = z.union([digits, digitsOfNumber.pipe(digits)]);

/** Wei and other big integers, from 0 to 2^256 - 1: base-10 text, or a number. */
export const bigInteger = usually(anyDigits, /^[0-9]{1,77}$/).nullish();

const shortDigits = z
  .string()
  .regex(/^[0-9]{1,15}$/, 'expected a number: base 10, not negative, at most 15 digits');
const shortNumber = z.union([shortDigits, digitsOfNumber.pipe(shortDigits)]).transform(Number);

/** A height or count in base-10 text, as account abstraction prints heights; a number is as good. */
export const numberText = usually(shortNumber, /^[0-9]{1,15}$/, Number);

const isoTime = z.iso
  .datetime({ offset: true, local: true })
  .refine(isStorable, 'a time that Postgres cannot hold: its year is 0 or its offset 16 h or more')
  .refine((value) => /T\d\d:\d\d:\d\d/u.test(value), 'expected a time with its seconds')
  // What is finer than a microsecond is cut off: Postgres rounds it, up into the next second if need be.
  .transform((value) => utc(value.replace(/(\.\d{6})\d+/u, '$1')));
const usualTime =
  /^[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,6})?Z$/;

/** ISO 8601 to the second or finer; a time without a zone is UTC, as the service's are. */
export const time = usually(isoTime, usualTime).nullish();

function isStorable(value: string): boolean {
  return !value.startsWith('0000') && !/[+-](?:1[6-9]|2\d):?\d\d$/u.test(value);
}

/** A time without a zone is UTC, as the service's are. */
export const utc = (value: string) => (/(?:Z|[+-]\d\d:?\d\d)$/iu.test(value) ? value : `${value}Z`);
