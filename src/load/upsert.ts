import { sql, type SQL } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { changeTime } from '../db/changes.ts';
import { execute, type Row, type Transaction } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';
import { z } from 'zod';

interface PageCounts {
  inserted: number;
  changed: number;
}
export type CountsByPage = Map<number, PageCounts>;

/** The value of a column when the row is there already, as SQL; `t` is the stored row. */
const newestWins = (column: string) => `excluded."${column}"`;

/** Stored rows that a page may change: of older pages, also its own (a new decoding), any, or none, which locks them. */
export type Changeable = 'older' | 'older and own' | 'any' | 'none';

/** A page that is decoded again does not list an item that was found to have left the list: a row without a block keeps its page. */
const keepsRemoval = (column: string) =>
  column === 'removed_at' ? 't."removed_at"' : newestWins(column);

/**
 * Brings `rows` into `table`: new ones are added, and those that differ are changed by the rule unless a newer
 * page has written them (promise 7). A stored row without its `place`, a column, is changed by an older page too.
 * Equal rows are not touched (promise 3): no dead tuple, and `updated_at` and `page_id` stay. `rows` hold one row
 * per key, all with the same columns, among them `page_id`. One JSON parameter beats a VALUES list by half and drizzle's builder fourfold.
 */
export async function upsert(
  tx: Transaction,
  table: PgTable,
  rows: readonly Row[],
  changeable: Changeable = 'older',
  place: string | null = null,
  rule: (column: string) => string = changeable === 'older and own' ? keepsRemoval : newestWins,
): Promise<CountsByPage> {
  const [first] = rows;
  if (first === undefined) return new Map();
  const columns = Object.keys(first);
  const source = recordset('row', shapeOf(table), columns, rows);
  const isPlaced = `t."${place}" is null and excluded."${place}" is not null and t.removed_at is null`;
  const isOpen = `${isChangeable[changeable]} ${place === null ? '' : `or ${isPlaced}`}`;
  const isChanged = (differs: string) => `(${isOpen}) and ${differs}`;
  // Citus servers do not have the function: a changed row takes its time from the proposed row. A row whose
  // two times are equal is new: a distributed or partitioned row has no `xmax`.
  const counts = await execute(tx).rows(() =>
    z.object({ page_id: z.string(), inserted: z.string(), changed: z.string() }),
  )`
    with written as (
      ${upsertOf(table, columns, source, { rule, isChanged })}
      returning t.page_id, t.first_seen_at = t.updated_at as is_new
    )
    select page_id,
           count(*) filter (where is_new) as inserted,
           count(*) filter (where not is_new) as changed
    from written
    group by page_id`;
  return new Map(
    counts.map(({ page_id, inserted, changed }) => [
      Number(page_id),
      { inserted: Number(inserted), changed: Number(changed) },
    ]),
  );
}

/** Adds rows of which none is stored, at half an upsert's cost. */
export async function insert(tx: Transaction, table: PgTable, rows: readonly Row[]) {
  if (rows.length === 0) return;
  const shape = shapeOf(table);
  const source = recordset('row', shape, shape.columns, rows);
  await tx.execute(sql`${insertOf(table, shape.columns, source)} on conflict do nothing`);
}

/** An insert into a table `t` as far as its rows, which are in the order of their keys, so that no two deadlock. */
export function insertOf(table: PgTable, columns: readonly string[], source: SQL): SQL {
  const { name, key } = shapeOf(table);
  return sql`
    ${sql.raw(`insert into ${name} as t (${columnList(columns)}, first_seen_at, updated_at)
    select ${columnList(columns)}, ${changeTime}, ${changeTime}
    from`)} ${source}
    ${sql.raw(`order by ${columnList(key)}`)}`;
}

/** The same, if rows that are stored may change; `isChanged` says which do, by whether one differs from what the rule makes of it. */
function upsertOf(
  table: PgTable,
  columns: readonly string[],
  source: SQL,
  { rule, isChanged }: { rule: (column: string) => string; isChanged: (differs: string) => string },
): SQL {
  const { key } = shapeOf(table);
  const data = columns.filter((column) => column !== 'page_id' && !key.includes(column));
  const merged = data.map(rule);
  const assignments = data.map((column, index) => `"${column}" = ${merged[index]}`);
  const differs = `(${columnList(data, 't.')}) is distinct from (${merged.join(', ')})`;
  return sql`${insertOf(table, columns, source)}
    ${sql.raw(`on conflict (${columnList(key)}) do update
    set ${assignments.join(', ')}, updated_at = excluded.updated_at,
        page_id = greatest(t.page_id, excluded.page_id)
    where ${isChanged(differs)}`)}`;
}

const isChangeable: Readonly<Record<Changeable, string>> = {
  older: 't.page_id < excluded.page_id',
  'older and own': 't.page_id <= excluded.page_id',
  any: 'true',
  none: 'false',
};

export interface TableShape {
  /** Schema and table, as SQL. */
  readonly name: string;
  readonly key: readonly string[];
  /** All but the two times, which the statements fill. */
  readonly columns: readonly string[];
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
    columns: columns
      .map((column) => column.name)
      .filter((column) => column !== 'first_seen_at' && column !== 'updated_at'),
    types: Object.fromEntries(
      // A collation belongs to the column, not to the type in a record definition.
      columns.map((column) => [column.name, column.getSQLType().replace(/ collate .*/, '')]),
    ),
  };
  shapes.set(table, shape);
  return shape;
}

export const columnList = (columns: readonly string[], prefix = '') =>
  columns.map((column) => `${prefix}"${column}"`).join(', ');

/**
 * Rows as a relation, as SQL: one JSON parameter. A column that a row does not have is null. Short names and
 * absent nulls halve what the server has to parse.
 */
export function recordset(
  name: string,
  shape: TableShape,
  columns: readonly string[],
  rows: readonly Row[],
): SQL {
  const short = columns.map((_, at) => `c${at}`);
  const given = rows.map((row) => {
    const values: Record<string, unknown> = {};
    for (const [at, column] of columns.entries()) {
      const value = row[column] ?? null;
      if (value !== null) values[short[at] ?? column] = value;
    }
    return values;
  });
  const types = columns.map((column, at) => `${short[at]} ${typeOf(shape, column)}`);
  return sql`(
    select * from json_to_recordset(${JSON.stringify(given)}::json) as ${sql.raw(`given(${types.join(', ')})
  ) as ${name}(${columnList(columns)})`)}`;
}

function typeOf(shape: TableShape, column: string): string {
  const type = shape.types[column];
  if (type === undefined) throw new Error(`${shape.name} has no column ${column}`);
  return type;
}

export const keyMatch = (key: readonly string[], left: string, right: string) =>
  key.map((column) => `${left}."${column}" = ${right}."${column}"`).join(' and ');

export const rowKey = (row: Row, columns: readonly string[]) =>
  JSON.stringify(columns.map((column) => row[column]));

/** The stored rows that equal a given row in some columns, by the text of these columns. */
export async function storedByKey(
  tx: Transaction,
  table: PgTable,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<Map<string, Row[]>> {
  const shape = shapeOf(table);
  const stored = await execute(tx).values(z.string)`
    select (to_jsonb(stored) - array['first_seen_at', 'updated_at', 'page_id'])::text as row
    from ${sql.raw(shape.name)} as stored
    join ${recordset('given', shape, columns, rows)}
      on ${sql.raw(keyMatch(columns, 'stored', 'given'))}
    order by ${sql.raw(columnList(shape.key, 'stored.'))}
  `;
  // Amounts have more digits than a double.
  const exact = stored.map((row) => parseExactly(row) as Row);
  return Map.groupBy(exact, (row) => rowKey(row, columns));
}

/** The whole set of rows that one parent has in a child table, as a page showed it. */
export interface ChildSet {
  readonly parent: Row;
  readonly page_id: number;
  readonly rows: readonly Row[];
}

/** The rows of sets as their table has them. */
export const membersOf = (sets: readonly ChildSet[]): readonly Row[] =>
  sets.flatMap(({ parent, page_id, rows }) => rows.map((row) => ({ ...row, ...parent, page_id })));

/** Which child table, and how its rows point to their parent. */
export interface ChildLink {
  readonly table: PgTable;
  readonly parent: PgTable;
  /** The child's columns that say whose row it is; the parent's key comes first, in its order. */
  readonly setKey: readonly string[];
  /** What dates a stored set: its parent's page, or its own rows if the parent comes without it. */
  readonly newness: 'parent' | 'set';
}

/**
 * Makes each parent's stored set equal to the given one, after the parents' upsert, which locks
 * them. A set older than the stored one is ignored: a parent whose set changed, and the rows of one
 * that shrank, take the page's number, so that no older page that commits later brings a row back.
 *
 * `not in`, which Postgres hashes: `not exists` took 7 s for 1,600 blocks. No key is null.
 */
export async function replaceChildren(
  tx: Transaction,
  link: ChildLink,
  sets: readonly ChildSet[],
): Promise<void> {
  if (sets.length === 0) return;
  const parents = sets.map(({ parent, page_id }) => ({ ...parent, page_id }));
  const { table, parent: owner, setKey, newness } = link;
  const [child, { name: ownerName, key }] = [shapeOf(table), shapeOf(owner)];
  const ownerKey = setKey.slice(0, key.length);
  const ownerMatch = (side: string) =>
    key.map((column, at) => `owner."${column}" = ${side}."${ownerKey[at]}"`).join(' and ');
  const isNewest = {
    parent: 'owner.page_id <= given.page_id',
    set: `not exists (
        select from ${child.name} as stored
        where ${keyMatch(setKey, 'stored', 'given')} and stored.page_id > given.page_id
      )`,
  };
  const hasShrunk = {
    parent: 'false',
    set: `exists (select from gone where ${keyMatch(ownerKey, 'gone', 't')})`,
  };
  const kept = upsertOf(table, child.columns, sql.raw('incoming'), {
    rule: newestWins,
    isChanged: (differs) => `${differs} or ${hasShrunk[newness]}`,
  });
  await tx.execute(sql`
    with parent as (
      select given.* from ${recordset('given', child, [...setKey, 'page_id'], parents)}
      ${sql.raw(`join ${ownerName} as owner on ${ownerMatch('given')}
      where ${isNewest[newness]}`)}
    ), incoming as (
      select member.* from ${recordset('member', child, child.columns, membersOf(sets))}
      ${sql.raw(`join parent on ${keyMatch(setKey, 'parent', 'member')}
    ), gone as (
      delete from ${child.name} as stored using parent
      where ${keyMatch(setKey, 'stored', 'parent')}
        and (${columnList(child.key, 'stored.')}) not in (select ${columnList(child.key)} from incoming)
      returning ${columnList(ownerKey, 'stored.')}, parent.page_id
    `)}), kept as (
      ${kept}
      ${sql.raw(`returning ${columnList(ownerKey, 't.')}, t.page_id
    ), change as (
      select * from gone union all select * from kept
    ), touched as (
      select ${columnList(ownerKey)}, max(page_id) as page_id from change group by ${columnList(ownerKey)}
    )
    update ${ownerName} as owner
    set page_id = greatest(owner.page_id, touched.page_id), updated_at = ${changeTime}
    from touched
    where ${ownerMatch('touched')}
      and (owner.updated_at <> ${changeTime} or owner.page_id < touched.page_id)`)}
  `);
}
