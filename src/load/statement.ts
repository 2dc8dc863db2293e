import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { Row } from '../db/row.ts';

/** What the loader needs to know of a table, read from its drizzle definition. */
export interface TableShape {
  /** Schema and table, as SQL. */
  readonly name: string;
  readonly key: readonly string[];
  /** SQL type by column name. */
  readonly types: Readonly<Record<string, string>>;
}

const shapes = new WeakMap<PgTable, TableShape>();

/** The table's name, primary key and column types; computed once. */
export function shapeOf(table: PgTable): TableShape {
  const known = shapes.get(table);
  if (known !== undefined) return known;
  const { schema, name, columns, primaryKeys } = getTableConfig(table);
  const shape: TableShape = {
    name: `${schema}.${name}`,
    key: primaryKeys.flatMap((key) => key.columns.map((column) => column.name)),
    types: Object.fromEntries(
      // A collation belongs to the column, not to the type in a record definition.
      columns.map((column) => [column.name, column.getSQLType().replace(/ collate .*/, '')]),
    ),
  };
  shapes.set(table, shape);
  return shape;
}

export const list = (columns: readonly string[], prefix = '') =>
  columns.map((column) => `${prefix}"${column}"`).join(', ');

/** Rows as they travel to Postgres: one JSON text, and the relation that Postgres makes of it. */
export interface Records {
  /** SQL before and after the text: a relation that wants a name. */
  readonly open: string;
  readonly close: string;
  /** The text: names of two letters, and no null, since a column that is absent is null. */
  readonly spell: (rows: readonly Row[]) => string;
}

/** How rows with these columns travel. Their names and nulls are half of a row's JSON, and cost as much. */
export function recordsOf(shape: TableShape, columns: readonly string[]): Records {
  const named = columns.map((column, at) => [column, `c${at.toString(36)}`] as const);
  const told = named.map(([column, short]) => `${short} ${typeOf(shape, column)}`);
  return {
    open: `(select ${named.map(([column, short]) => `${short} as "${column}"`).join(', ')} from json_to_recordset(`,
    close: `::json) as told(${told.join(', ')}))`,
    spell: (rows) =>
      JSON.stringify(
        rows.map((row) => {
          const short: Record<string, unknown> = {};
          for (const [column, name] of named) {
            const value = row[column] ?? null;
            if (value !== null) short[name] = value;
          }
          return short;
        }),
      ),
  };
}

function typeOf(shape: TableShape, column: string): string {
  const type = shape.types[column];
  if (type === undefined) throw new Error(`${shape.name} has no column ${column}`);
  return type;
}

export const keyMatch = (key: readonly string[], left: string, right: string) =>
  key.map((column) => `${left}."${column}" = ${right}."${column}"`).join(' and ');
