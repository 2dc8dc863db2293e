import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { type Outline, outlineOf } from '../drift/fields.ts';
import type { ChildTable } from './operation.ts';

/** What an operation says of its items and where they go. */
export interface DeclaredItem {
  readonly item: z.ZodType;
  readonly table: PgTable;
  /** The column that tells a chain's items apart. */
  readonly key: string;
  /** The columns of the fields whose column has another name. */
  readonly columns: Readonly<Record<string, string>>;
  /** The tables of the fields that are lists or objects; their foreign key leads to the item's row. */
  readonly children: Readonly<Record<string, PgTable>>;
}

/** A column, and the names that generations of the API have for its field: the first that is told counts. */
export interface Column {
  readonly column: string;
  readonly names: readonly string[];
  /** An embedded address is its hash here, and else a row of its own. */
  readonly isAddress: boolean;
}

/** How an object becomes columns. Those of an object within it begin with that one's name. */
export interface Layout {
  readonly columns: readonly Column[];
  readonly within: readonly { readonly name: string; readonly layout: Layout }[];
}

/** A field of an item that is a list or an object, and its table. */
export interface Part extends ChildTable, Layout {
  readonly names: readonly string[];
  /** Then its rows have positions. */
  readonly isList: boolean;
}

/** How an item becomes rows. */
export interface ItemLayout {
  readonly columns: readonly Column[];
  readonly parts: readonly Part[];
}

interface Field {
  readonly name: string;
  readonly names: readonly string[];
  readonly outline: Outline;
}

/** Draws from its schema how an item becomes rows. */
export function layoutOfItem(declared: DeclaredItem): ItemLayout {
  const fields = fieldsOf(outlineOf(declared.item));
  const { columns } = layoutOf(fields.filter(isValue), (name) => declared.columns[name] ?? name);
  checkColumns(declared.table, { columns, within: [] });
  return {
    columns,
    parts: fields.filter((field) => !isValue(field)).map((field) => partOf(field, declared)),
  };
}

/** The fields of an object, each once. */
function fieldsOf({ fields }: Outline): Field[] {
  const all = [...(fields ?? [])];
  return all.flatMap(([name, outline]) => {
    const others = all.flatMap(([other, { sameAs }]) => (sameAs === name ? [other] : []));
    return outline.sameAs === undefined ? [{ name, names: [name, ...others], outline }] : [];
  });
}

const isValue = ({ outline: { fields, element, isOwnRow } }: Field) =>
  isOwnRow === true || (fields === null && element === null);

/** @param spell the column of a value, by its name */
function layoutOf(fields: readonly Field[], spell: (name: string) => string): Layout {
  const [values, objects] = [fields.filter(isValue), fields.filter((field) => !isValue(field))];
  return {
    columns: values.map(({ name, names, outline }) => {
      const isAddress = outline.isOwnRow === true;
      return { column: spell(isAddress ? `${name}_hash` : name), names, isAddress };
    }),
    within: objects.map(({ name, outline }) => ({
      name,
      layout: layoutOf(fieldsOf(outline), (inner) => spell(`${name}_${inner}`)),
    })),
  };
}

/** The members of a list that are no objects are hashes. */
const hashes: Layout = {
  columns: [{ column: 'hash', names: ['hash'], isAddress: false }],
  within: [],
};

function partOf({ name, names, outline }: Field, { table: own, children }: DeclaredItem): Part {
  const table = children[name];
  if (table === undefined) throw new Error(`the field ${name} has no table`);
  const [link] = getTableConfig(table).foreignKeys.map((key) => key.reference());
  if (link?.foreignTable !== own) throw new Error(`the rows of ${name} don't refer to their item`);
  const { element } = outline;
  const fields = fieldsOf(element ?? outline);
  const layout = fields.length === 0 ? hashes : layoutOf(fields, (column) => column);
  checkColumns(table, layout);
  const parentKey = link.columns.map((column) => column.name);
  return { ...layout, table, parentKey, names, isList: element !== null };
}

/** A field without a column would be lost: it is not among the unknown ones, which are kept. */
function checkColumns(table: PgTable, { columns, within }: Layout): void {
  const known = getTableColumns(table);
  const lost = columns.find(({ column }) => !(column in known));
  if (lost !== undefined) throw new Error(`${lost.names.join()}: the table has no ${lost.column}`);
  for (const { layout } of within) checkColumns(table, layout);
}
