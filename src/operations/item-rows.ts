import type { Row } from '../db/row.ts';
import {
  isUnread,
  unknownFields,
  type Unread,
  unreadBelow,
  unreadFields,
  unreadMembers,
} from '../drift/fields.ts';
import {
  type AddressObservation,
  type EmbeddedAddress,
  hashOf,
  observeAddress,
} from '../load/address.ts';
import type { Column, DeclaredItem, ItemLayout, Layout, Part } from './layout.ts';
import type { ItemRows, Place, Scope, Untold } from './operation.ts';

/** What the kind of list says of an item's row. */
export interface RowOfKind<Walk extends Scope> {
  /** Columns that no field tells, and what they hold. */
  readonly columns: Readonly<Record<string, (scope: Walk) => unknown>>;
  /** The column that says where an item stands; null in a list without an order. */
  readonly height: string | null;
}

/** An object as it was decoded, or a row on its way. */
type Fields = Record<string, unknown>;

/** How an item becomes rows: what `Operation` calls `normalise`. */
export function normaliser<Walk extends Scope>(
  { item: schema, key }: Pick<DeclaredItem, 'item' | 'key'>,
  { columns, parts }: ItemLayout,
  kind: RowOfKind<Walk>,
) {
  const own: Layout = { columns, within: [] };
  const fixed = Object.entries(kind.columns);
  const all = ['chain_id', ...columns.map(({ column }) => column), ...Object.keys(kind.columns)];
  // Copied for each item, and then filled: an object that grows by each column takes longer.
  const blank = Object.fromEntries([...all, 'extra'].map((column) => [column, null]));
  const addresses = columns.filter(({ isAddress }) => isAddress);
  const columnOf = new Map(
    columns.flatMap(({ column, names }) => names.map((name) => [name, column] as const)),
  );
  return (decoded: unknown, raw: unknown, place: Place): ItemRows => {
    const { chain_id, scope, position, unread } = place;
    const item = decoded as Fields;
    const row = lay({ ...blank, chain_id }, own, item);
    for (const [column, value] of fixed) row[column] = value(scope as Walk);
    row['extra'] = unknownFields(schema, raw);
    const id = row[key] as string | number | null;
    if (id === null) throw new Error(`the schema lets no item pass without its ${key}`);
    return {
      key: String(id),
      row,
      children: parts.map((part) => rowsOf(part, item, [chain_id, id])),
      addresses: observed(addresses, item, raw as Fields, place),
      untold: untoldOf(columnOf, parts, item, unread),
      position,
      height: kind.height === null ? null : (row[kind.height] as number | null),
    };
  };
}

/** What is told under the first of a field's names that tells it; null: nothing. */
function told(item: Fields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = item[name];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** Adds to a row what an object tells; a column that it does not tell is null. */
function lay(row: Fields, { columns, within }: Layout, item: Fields): Fields {
  for (const { column, names, isAddress } of columns) {
    const value = told(item, names);
    row[column] = isAddress && value !== null ? hashOf(value as EmbeddedAddress) : value;
  }
  for (const { name, layout } of within) lay(row, layout, (item[name] ?? {}) as Fields);
  return row;
}

/** A member that is null says nothing; its neighbours keep their positions. */
function rowsOf(part: Part, item: Fields, id: readonly unknown[]): readonly Row[] {
  const value = told(item, part.names);
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  const parent = Object.fromEntries(part.parentKey.map((column, at) => [column, id[at]]));
  if (!part.isList) return [lay(parent, part, value as Fields)];
  return (value as readonly (Fields | string | null)[]).flatMap((member, position) => {
    if (member === null) return [];
    const fields = typeof member === 'string' ? { hash: member } : member;
    return [lay({ ...parent, position }, part, fields)];
  });
}

/** The addresses that an item shows. */
function observed(columns: readonly Column[], item: Fields, raw: Fields, place: Place) {
  const observations: AddressObservation[] = [];
  for (const { names } of columns) {
    for (const name of names) {
      const address = item[name] as EmbeddedAddress | null | undefined;
      if (address === null || address === undefined) continue;
      const unread = unreadBelow(place.unread, name);
      observations.push(observeAddress(address, raw[name], { ...place, unread }));
      break;
    }
  }
  return observations;
}

function untoldOf(
  columnOf: ReadonlyMap<string, string>,
  parts: readonly Part[],
  item: Fields,
  unread: Unread,
): Untold | null {
  if (parts.length === 0 && unread.length === 0) return null;
  const columns = unreadFields(unread).map((field) => columnOf.get(field) ?? field);
  const children = parts.map((part) => untoldRows(part, item, unread));
  const isWhole = columns.length === 0 && children.every(({ length }) => length === 0);
  return isWhole ? null : { columns, children };
}

function untoldRows(
  { names, isList }: Part,
  item: Fields,
  unread: Unread,
): readonly number[] | 'all' {
  if (names.some((name) => isUnread(unread, name))) return 'all';
  return names.flatMap((name) => {
    const below = unreadBelow(unread, name);
    if (!isList) return below.slice(0, 1).map(() => 0);
    return unreadMembers(item[name] as readonly unknown[] | null | undefined, below);
  });
}
