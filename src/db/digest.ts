import { sql, type SQL } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';

/*
 * How damage to rows is seen (docs/decisions/0012-rows.md). Each row of schema `explorer` bears a
 * digest of all its columns, written by the statement that writes the row; and `etl.row_counts` has,
 * from the same statement, how many rows there are of each moment, and the sum of their digests. So
 * whatever else changes a row leaves a digest that is not its own, and whatever deletes a row, or
 * brings an older one back, leaves a sum that is not the ledger's.
 */

/** The digest itself, and the one before it, which tells the ledger what to subtract. */
const ofDigest: ReadonlySet<string> = new Set(['digest', 'digest_before']);

/** A column of the row that is digested, as SQL. */
type Spell = (column: string) => string;

/** Schema and name, as SQL and as the ledger has it. */
export function tableName(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}

const known = new WeakMap<PgTable, readonly string[]>();

/** The columns that a row's digest covers: all others, in the order of the definition. */
function digestedColumns(table: PgTable): readonly string[] {
  const before = known.get(table);
  if (before !== undefined) return before;
  const names = getTableConfig(table).columns.map(({ name }) => name);
  const columns = names.filter((name) => !ofDigest.has(name));
  known.set(table, columns);
  return columns;
}

/**
 * The digest of a row, as SQL. Each column as it is stored or of its very type: Postgres hashes the
 * values, by the functions that it partitions tables by, so no setting of a session counts.
 */
export const digestOf = (table: PgTable, spell: Spell): string =>
  `hash_record_extended(row(${digestedColumns(table).map(spell).join(', ')}), 0)`;

/** The same where a column's value is a parameter. */
export const digestSql = (table: PgTable, spell: (column: string) => SQL): SQL =>
  sql`hash_record_extended(row(${sql.join(digestedColumns(table).map(spell), sql.raw(', '))}), 0)`;

/** The digest that the stored row `alias` should bear, as SQL. */
export const digestOfRow = (table: PgTable, alias = 't'): string =>
  digestOf(table, (column) => `${alias}."${column}"`);

/**
 * The assignments of an update of the stored row `alias` for its digest, as SQL. A row that was
 * damaged stays so: what it holds beside the changed columns is nothing that a page said.
 *
 * @param changed what else the update sets, by column
 */
export function redigest(table: PgTable, changed: Spell, alias = 't'): string {
  const { digest, before } = { digest: `${alias}.digest`, before: digestOfRow(table, alias) };
  return `digest_before = ${digest},
          digest = case when ${digest} = ${before} then ${digestOf(table, changed)} else ${digest} end`;
}

/**
 * All assignments of an update of the stored row `alias`: the given ones, and that of the digest.
 *
 * @param changed SQL by column
 */
export function assign(table: PgTable, changed: Readonly<Record<string, SQL>>, alias = 't'): SQL {
  const assignments = Object.entries(changed).map(
    ([column, value]) => sql`${sql.raw(`"${column}"`)} = ${value}, `,
  );
  const next = digestSql(table, (column) => {
    const value = changed[column];
    return value === undefined ? sql.raw(`${alias}."${column}"`) : typed(table, column, value);
  });
  return sql`${sql.join(assignments)}${sql.raw(
    `digest_before = ${alias}.digest,
     digest = case when ${alias}.digest = ${digestOfRow(table, alias)} then `,
  )}${next}${sql.raw(` else ${alias}.digest end`)}`;
}

/** A value as its column holds it: the type decides by which function it is hashed. */
function typed(table: PgTable, column: string, value: SQL): SQL {
  const type = getTableConfig(table)
    .columns.find(({ name }) => name === column)
    ?.getSQLType();
  if (type === undefined) throw new Error(`${tableName(table)} has no column ${column}`);
  return sql`(${value})::${sql.raw(type.replace(/ collate .*/, ''))}`;
}

/** What a statement that writes or deletes rows returns of each for the ledger, as SQL. */
export const tallied = (alias = 't'): string =>
  ['chain_id', 'first_seen_at', 'page_id', 'digest', 'digest_before']
    .map((column) => `${alias}.${column}`)
    .join(', ');

/** The same of rows that are deleted. */
export const talliedGone = (alias = 't'): string =>
  `${alias}.chain_id, ${alias}.first_seen_at, ${alias}.page_id, null::bigint as digest,
   ${alias}.digest as digest_before`;

/**
 * The insert that notes in the ledger what a statement did, as SQL.
 *
 * @param from a relation with what `tallied` or `talliedGone` returned
 */
export const tally = (table: PgTable, from: string): string => `
  insert into etl.row_counts (
    chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id,
    lowest_page_id, highest_page_id
  )
  select chain_id, '${tableName(table)}', first_seen_at,
         count(*) filter (where digest_before is null) - count(*) filter (where digest is null),
         coalesce(sum(digest), 0) - coalesce(sum(digest_before), 0),
         min(page_id) filter (where digest_before is null),
         max(page_id) filter (where digest_before is null),
         min(page_id), max(page_id)
  from ${from}
  group by chain_id, first_seen_at`;

/** As SQL: the primary key of a row as a JSON object. */
export function keyOf(table: PgTable, alias: string) {
  const { primaryKeys } = getTableConfig(table);
  const columns = primaryKeys.flatMap((key) => key.columns.map(({ name }) => name));
  return sql.raw(
    `json_build_object(${columns.map((name) => `'${name}', ${alias}."${name}"`).join(', ')})`,
  );
}
