import type { PoolClient } from 'pg';
import { isEnforced } from '../db/relations.ts';

/** What a table holds, as a number of rows and a digest of all of them, whatever their order. */
export interface TableDigest {
  readonly table: string;
  readonly rows: number;
  /** Two 64-bit hashes of each row, summed up; every column counts. */
  readonly digest: string;
}

/** A row that two databases hold differently; null where one of them has none. Values as text. */
export interface RowDifference {
  readonly table: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly present: Readonly<Record<string, string | null>> | null;
  readonly replayed: Readonly<Record<string, string | null>> | null;
}

/** A table of schema `explorer` and the columns of its primary key. */
export interface ComparedTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

/** A connection in a transaction. */
type Session = Pick<PoolClient, 'query'>;

/** The tables as they are, and as the archive makes them. */
export interface Sides {
  readonly present: Session;
  readonly replayed: Session;
}

/** The columns of a table that can be written, as an SQL expression. */
export const columnsOf = (table: string) => `(
  select array_agg(attname::text order by attnum)
  from pg_attribute
  where attrelid = ${table} and attnum > 0 and not attisdropped and attgenerated = ''
)`;

/** Written by the configuration, not by pages. */
const notOfPages = ['chains'];

/** The tables that pages fill; those that others refer to come first. */
export async function comparedTables(session: Session): Promise<ComparedTable[]> {
  const { rows } = await session.query<ComparedTable>(
    `select 'explorer.' || relname as name,
            (
              select array_agg(attname::text order by array_position(conkey, attnum))
              from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any(conkey)
              where conrelid = pg_class.oid and contype = 'p'
            ) as key,
            ${columnsOf('pg_class.oid')} as columns
     from pg_class
     where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p')
       and not relispartition
       and relname <> all($1)
     order by exists (
       select from pg_constraint
       where conrelid = pg_class.oid and contype = 'f' and ${isEnforced}
     ), relname`,
    [notOfPages],
  );
  return rows;
}

/** One spelling for one value, whatever the session was told. */
const spelling = `
  set local time zone 'UTC'; set local datestyle to 'ISO'; set local extra_float_digits to 1
`;

/** The digest of each table, read from this session. */
export async function digestTables(
  session: Session,
  tables: readonly ComparedTable[],
): Promise<TableDigest[]> {
  await session.query(spelling);
  const digests: TableDigest[] = [];
  for (const { name, columns } of tables) {
    const { rows } = await session.query<{ rows: string; digest: string }>(
      `select count(*) as rows,
              coalesce(md5(sum(hashtextextended(row, 1)::numeric)::text
                        || ' ' || sum(hashtextextended(row, 2)::numeric)::text), '') as digest
       from (select row(${quoted(columns)})::text as row from ${name}) as spelled`,
    );
    const [found] = rows;
    digests.push({ table: name, rows: Number(found?.rows ?? 0), digest: found?.digest ?? '' });
  }
  return digests;
}

const quoted = (columns: readonly string[], prefix = '') =>
  columns.map((column) => `${prefix}"${column}"`).join(', ');

interface Spelled {
  /** The primary key as a JSON object, which is also what the rows are ordered by. */
  readonly key: string;
  readonly hash: string;
}

/** Rows looked at, and differing rows handed on, at once; a line of text each. */
const rowsAtOnce = 5_000;

/** The keys of the rows that differ. Neither table is held in memory. */
async function* differingKeys(
  { present, replayed }: Sides,
  table: ComparedTable,
): AsyncGenerator<string[], undefined> {
  const [ours, theirs] = [spelledRows(present, table), spelledRows(replayed, table)];
  let [a, b] = [await ours.next(), await theirs.next()];
  let found: string[] = [];
  for (;;) {
    const side = order(a.value, b.value);
    const key = side > 0 ? b.value?.key : a.value?.key;
    if (key === undefined) break;
    if (side !== 0 || a.value?.hash !== b.value?.hash) found.push(key);
    if (found.length >= rowsAtOnce) {
      yield found;
      found = [];
    }
    if (side <= 0) a = await ours.next();
    if (side >= 0) b = await theirs.next();
  }
  if (found.length > 0) yield found;
  return undefined;
}

/** Which of two rows comes first: below 0 the first. A side that has come to its end comes last. */
function order(a: Spelled | undefined, b: Spelled | undefined): number {
  if (a === undefined) return b === undefined ? 0 : 1;
  return b === undefined ? -1 : Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
}

async function* spelledRows(
  session: Session,
  { name, key, columns }: ComparedTable,
): AsyncGenerator<Spelled, undefined> {
  await session.query(spelling);
  await session.query(
    `declare spelled no scroll cursor for
     select ${keyText(key)} collate "C" as key, md5(row(${quoted(columns)})::text) as hash
     from ${name} as t
     order by 1`,
  );
  try {
    for (;;) {
      const { rows } = await session.query<Spelled>(`fetch ${rowsAtOnce} from spelled`);
      yield* rows;
      if (rows.length < rowsAtOnce) return undefined;
    }
  } finally {
    await session.query('close spelled');
  }
}

const keyText = (key: readonly string[]) =>
  `json_build_object(${key.map((column) => `'${column}', t."${column}"`).join(', ')})::text`;

/** `from` the rows of a table whose keys are in the parameter. */
const keyed = ({ name, key }: ComparedTable) =>
  `from ${name} as t
   join (select ${quoted(key)} from json_populate_recordset(null::${name}, $1)) as given
   using (${quoted(key)})`;

const jsonList = (keys: readonly string[]) => `[${keys.join(',')}]`;

/** The rows that differ, one by one, both as they are and as they would be. */
export async function* differences(
  sides: Sides,
  table: ComparedTable,
): AsyncGenerator<RowDifference, undefined> {
  for await (const keys of differingKeys(sides, table)) {
    const [present, replayed] = [
      await shownRows(sides.present, table, keys),
      await shownRows(sides.replayed, table, keys),
    ];
    for (const key of keys) {
      yield {
        table: table.name,
        key: JSON.parse(key) as RowDifference['key'],
        present: present.get(key) ?? null,
        replayed: replayed.get(key) ?? null,
      };
    }
  }
  return undefined;
}

async function shownRows(session: Session, table: ComparedTable, keys: readonly string[]) {
  const { rows } = await session.query<{ key: string; row: Record<string, string | null> }>(
    // The rows first: they may be spread over servers, which would not do the rest.
    `with shown as materialized (
       select ${keyText(table.key)} as key, to_jsonb(t) as row ${keyed(table)}
     )
     select key, (
       select jsonb_object_agg(each.key, each.value) from jsonb_each_text(row) as each
     ) as row
     from shown`,
    [jsonList(keys)],
  );
  return new Map(rows.map(({ key, row }) => [key, row]));
}

/**
 * Makes the present table what the replayed one is, row by row where they differ.
 *
 * @returns how many rows differed
 */
export async function adopt(sides: Sides, table: ComparedTable): Promise<number> {
  const { name, key, columns } = table;
  const sets = columns.filter((column) => !key.includes(column));
  let count = 0;
  for await (const keys of differingKeys(sides, table)) {
    const given = jsonList(keys);
    // As text all the way: a number of 78 digits is none that JavaScript can hold.
    const { rows } = await sides.replayed.query<{ rows: string }>(
      `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows ${keyed(table)}`,
      [given],
    );
    const wanted = rows[0]?.rows ?? '[]';
    await sides.present.query(
      `with gone as materialized (
         select ${quoted(key)} from json_populate_recordset(null::${name}, $1) as given
         where not exists (
           select from json_populate_recordset(null::${name}, $2) as wanted
           where (${quoted(key, 'wanted.')}) = (${quoted(key, 'given.')})
         )
       )
       delete from ${name} as t using gone
       where (${quoted(key, 't.')}) = (${quoted(key, 'gone.')})`,
      [given, wanted],
    );
    await sides.present.query(
      `insert into ${name} (${quoted(columns)})
       select ${quoted(columns)} from json_populate_recordset(null::${name}, $1)
       on conflict (${quoted(key)}) do update
       set ${sets.map((column) => `"${column}" = excluded."${column}"`).join(', ')}`,
      [wanted],
    );
    // The ledger of rows is corrected when all are adopted; where they come from it has to know, too.
    await sides.present.query(
      `insert into etl.row_counts (
         chain_id, table_name, first_seen_at, rows, digests, lowest_page_id, highest_page_id
       )
       select distinct chain_id, $2, first_seen_at, 0, 0, page_id, page_id
       from json_populate_recordset(null::${name}, $1)
       where page_id is not null`,
      [wanted, name],
    );
    count += keys.length;
  }
  return count;
}
