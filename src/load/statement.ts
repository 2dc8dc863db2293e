import { sql, type SQL } from 'drizzle-orm';
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

/** Rows as a relation, as SQL: one JSON parameter. A column that a row does not have is null. */
export function recordset(
  name: string,
  shape: TableShape,
  columns: readonly string[],
  rows: readonly Row[],
): SQL {
  const types = columns.map((column) => `"${column}" ${typeOf(shape, column)}`);
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) as ${sql.raw(`${name}(${types.join(', ')})`)}`;
}

function typeOf(shape: TableShape, column: string): string {
  const type = shape.types[column];
  if (type === undefined) throw new Error(`${shape.name} has no column ${column}`);
  return type;
}

export const keyMatch = (key: readonly string[], left: string, right: string) =>
  key.map((column) => `${left}."${column}" = ${right}."${column}"`).join(' and ');
