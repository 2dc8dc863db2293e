import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../db/column-types.ts';
import { dataTables } from '../../operations/index.ts';
import type { Term } from '../../page/why/facts.ts';

/** A column by which rows of a table are found through an index. */
export interface Place {
  readonly table: PgTable;
  /** With its schema. */
  readonly name: string;
  readonly column: string;
  /** The rest of the primary key behind the chain and the column. Null: the column is not in front of it. */
  readonly rest: readonly PgColumn[] | null;
}

/**
 * Where hashes and addresses, or numbers, are looked for: columns of that type that follow the chain in a primary key
 * or are in front of an index, in every table whose rows pages write. So a look reads a few rows of each, however
 * large the tables are, and a new operation's tables are looked at too. Those that the key names come first.
 */
export function placesOf({ is }: Pick<Term, 'is'>): readonly Place[] {
  const isSought = is === 'number' ? isCount : isHex;
  const places = dataTables.flatMap((table) => placesIn(table, isSought));
  return places.toSorted((one, other) => partOf(one) - partOf(other));
}

/** How far a place is from naming one row: by the columns that its key has beside. */
const partOf = ({ rest }: Place): number => rest?.length ?? Number.MAX_SAFE_INTEGER;

const isHex = (column: PgColumn) => column.getSQLType() === 'text collate "C"';
const isCount = (column: PgColumn) => column.getSQLType() === 'bigint';

function placesIn(table: PgTable, isSought: (column: PgColumn) => boolean): Place[] {
  const { primaryKeys, indexes, columns: all } = getTableConfig(table);
  const place = { table, name: tableName(table) };
  const named = (name: string | undefined) => all.find((column) => column.name === name);
  const own = primaryKeys.flatMap(({ columns }): Place[] => {
    const [chain, column, ...rest] = columns.flatMap(({ name }) => named(name) ?? []);
    return chain?.name === 'chain_id' && column !== undefined && isSought(column)
      ? [{ ...place, column: column.name, rest }]
      : [];
  });
  const others = indexes.flatMap(({ config }): Place[] => {
    // A part of the rows is no place to look for all of them; and ranges are no values.
    if (config.where !== undefined || !['btree', 'hash'].includes(config.method ?? 'btree')) {
      return [];
    }
    const names = config.columns.map((column) => ('name' in column ? column.name : undefined));
    const column = named(names.find((name) => name !== 'chain_id'));
    return column !== undefined && isSought(column)
      ? [{ ...place, column: column.name, rest: null }]
      : [];
  });
  const known = new Set(own.map(({ column }) => column));
  return [...own, ...others.filter(({ column }) => !known.has(column))];
}
