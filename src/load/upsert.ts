import { sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import { list, recordsOf, shapeOf, type Records } from './statement.ts';

/** How many rows a page added to its table, and how many it changed. */
interface PageCounts {
  inserted: number;
  changed: number;
}
export type CountsByPage = Map<number, PageCounts>;

/** The value of a column when the row is there already, as SQL; `t` is the stored row. */
type ColumnRule = (column: string) => string;
const newestWins: ColumnRule = (column) => `excluded."${column}"`;

/**
 * Which stored rows a page may change: those of older pages, also those that it wrote itself, when it is
 * decoded by other declarations, or any, where the rule decides for each column.
 */
export type Changeable = 'older' | 'older and own' | 'any';

interface UpsertOptions {
  readonly rule: ColumnRule;
  readonly changeable: Changeable;
}

/**
 * Brings `rows` into `table`: new ones are added, and those that differ are changed unless a newer
 * page has written them (promise 7). Equal rows are not touched (promise 3): no dead tuple, and
 * `updated_at` and `page_id` stay. `rows` hold one row per key, all with the same columns, among
 * them `page_id`. One JSON parameter beats a VALUES list by half and drizzle's builder fourfold.
 */
export async function upsert(
  tx: Transaction,
  table: PgTable,
  rows: readonly Row[],
  changeable: Changeable = 'older',
): Promise<CountsByPage> {
  const statement = upsertStatement(table, rows, { rule: newestWins, changeable });
  if (statement === null) return new Map();
  const { rows: counts } = await tx.execute<{
    page_id: string;
    inserted: string;
    changed: string;
  }>(statement);
  return new Map(
    counts.map((count) => [
      Number(count.page_id),
      { inserted: Number(count.inserted), changed: Number(count.changed) },
    ]),
  );
}

/** What `upsert` runs, for who needs no counts; null where there are no rows. */
export function upsertStatement(
  table: PgTable,
  rows: readonly Row[],
  options: UpsertOptions,
): SQL | null {
  const [first] = rows;
  if (first === undefined) return null;
  const columns = Object.keys(first);
  const records = recordsOf(shapeOf(table), columns);
  const [head, tail] = around(table, columns, options);
  return sql`${sql.raw(head + records.open)}${records.spell(rows)}${sql.raw(records.close + tail)}`;
}

/** What `insertSpelled` runs with these rows; null where there are none. */
export function insertStatement(table: PgTable, rows: readonly Row[]): SQL | null {
  const records = recordsOf(shapeOf(table), givenColumns(table));
  return rows.length === 0 ? null : insertSpelled(table, records, records.spell(rows));
}

/** The columns that the database does not fill. */
const givenColumns = (table: PgTable) =>
  Object.keys(shapeOf(table).types).filter((column) => !isTime.has(column));

const isTime: ReadonlySet<string> = new Set(['first_seen_at', 'updated_at']);

/**
 * A statement that adds those rows of which none is stored; it passes over the others, unlocked, and returns
 * the keys of those that it added. For a few rows it costs half of an upsert.
 *
 * @param records how the rows travel: all of the table's columns, and perhaps more
 * @param text the rows as they were spelled
 */
export function insertSpelled(
  table: PgTable,
  { open, close }: Pick<Records, 'open' | 'close'>,
  text: string,
): SQL {
  const { name, key } = shapeOf(table);
  const own = key.filter((column) => column !== 'chain_id');
  const head = `/* insert ${name} */ ${insertInto(table, givenColumns(table))}${open}`;
  const tail = `${close}${sortedBy(table)} on conflict do nothing returning ${list(own, 't.')}`;
  return sql`${sql.raw(head)}${text}${sql.raw(tail)}`;
}

/** The insert up to its rows. */
const insertInto = (table: PgTable, columns: readonly string[]): string => `
  insert into ${shapeOf(table).name} as t (${list(columns)}, first_seen_at, updated_at)
  select ${list(columns)}, now(), now()
  from `;

/** So that no two deadlock. */
const sortedBy = (table: PgTable): string => ` as row order by ${list(shapeOf(table).key)}`;

const isChangeable: Readonly<Record<Changeable, string>> = {
  older: 't.page_id < excluded.page_id and ',
  'older and own': 't.page_id <= excluded.page_id and ',
  any: '',
};

/**
 * The statement before and after its rows. A row whose two times are one is new: `xmax` shows it too, but no
 * partitioned table has one, nor has one that is spread over servers.
 */
function around(
  table: PgTable,
  columns: readonly string[],
  { rule, changeable }: UpsertOptions,
): readonly [string, string] {
  const shape = shapeOf(table);
  const data = columns.filter((column) => column !== 'page_id' && !shape.key.includes(column));
  const merged = data.map(rule);
  const assignments = data.map((column, index) => `"${column}" = ${merged[index]}`);
  const differs = `(${list(data, 't.')}) is distinct from (${merged.join(', ')})`;
  return [
    `/* upsert ${shape.name} */
     with written as (${insertInto(table, columns)}`,
    // Some servers of Citus would each say their own now: a changed row takes that of the row that is new.
    `${sortedBy(table)}
       on conflict (${list(shape.key)}) do update
       set ${assignments.join(', ')}, updated_at = excluded.updated_at,
           page_id = greatest(t.page_id, excluded.page_id)
       where ${isChangeable[changeable]}${differs}
       returning t.page_id, t.first_seen_at = t.updated_at as is_new
     )
     select page_id,
            count(*) filter (where is_new) as inserted,
            count(*) filter (where not is_new) as changed
     from written
     group by page_id`,
  ];
}
