import type { Pool } from 'pg';
import { readAll, type Statement } from '../query/read.ts';

/** How the rows of a relation lie in files: one for each chain and UTC day, one for each chain, or one. */
export type Layout = 'day' | 'chain' | 'whole';
export type Format = 'parquet' | 'csv';

/** A table or view of schema explorer. */
export interface Relation {
  readonly name: string;
  readonly isTable: boolean;
  readonly columns: readonly string[];
  readonly layout: Layout;
  /** Whether policies would hide rows from a superuser, whose rights are put off. */
  readonly isGuarded: boolean;
}

/** Which rows are exported. */
export interface Choice {
  /** None: all. */
  readonly chains: readonly number[];
  /** First and last UTC day, such as 2026-11-01; null: no bound. A row without a time is in every choice. */
  readonly from: string | null;
  readonly to: string | null;
}

/** A file: where it lies below the folder of the export, and the statement whose answer it holds. */
export interface ExportFile {
  readonly path: string;
  readonly statement: Statement;
}

/** Names become folders: tables of others whose names would not do are not offered. */
const catalog = `
  select relname, relkind in ('r', 'p'), columns,
         case when not has_chain then 'whole' when has_time then 'day' else 'chain' end,
         relrowsecurity and (select rolsuper from pg_roles where rolname = session_user)
  from pg_class as relation
  cross join lateral (
    select json_agg(attname order by attnum) as columns,
           coalesce(bool_or(attname = 'chain_id' and atttypid = 'bigint'::regtype), false) as has_chain,
           coalesce(bool_or(attname = 'timestamp' and atttypid = 'timestamptz'::regtype), false) as has_time
    from pg_attribute
    where attrelid = relation.oid and attnum > 0 and not attisdropped
  ) as attribute
  where relnamespace = to_regnamespace('explorer') and relkind in ('r', 'p', 'v', 'm') and not relispartition
    and relname ~ '^[a-z][a-z0-9_]*$' and has_table_privilege(oid, 'select')
  order by relname`;

/** The tables and views of schema explorer that this role may read, by name; a partitioned table is one. */
export async function readRelations(pool: Pool, signal: AbortSignal): Promise<Relation[]> {
  const rows = await readAll(pool, { text: catalog, values: [] }, signal);
  return rows.map(([name, isTable, columns, layout, isGuarded]) => ({
    name: name ?? '',
    isTable: isTable === 't',
    columns: JSON.parse(columns ?? '[]') as string[],
    layout: layout as Layout,
    isGuarded: isGuarded === 't',
  }));
}

/** The files of a choice of a relation's rows, one for each partition that has rows. */
export async function filesOf(
  pool: Pool,
  relation: Relation,
  choice: Choice,
  format: Format,
  signal: AbortSignal,
): Promise<ExportFile[]> {
  const partitions =
    relation.layout === 'whole'
      ? [[]]
      : await readAll(pool, partitionsOf(relation, choice), signal);
  return partitions.map(([chain = null, day = null]) => ({
    path: pathOf(relation, chain, day, format),
    statement: statementOf(relation, chain, day, format),
  }));
}

/** What Hive, DuckDB and Arrow read as null. */
const noValue = '__HIVE_DEFAULT_PARTITION__';

export function pathOf(
  { name, layout }: Pick<Relation, 'name' | 'layout'>,
  chain: string | null,
  day: string | null,
  format: Format,
): string {
  const folders = [
    name,
    ...(layout === 'whole' ? [] : [`chain_id=${encodeURIComponent(chain ?? noValue)}`]),
    ...(layout === 'day' ? [`day=${encodeURIComponent(day ?? noValue)}`] : []),
  ];
  return [...folders, `data.${format}`].join('/');
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** When a UTC day begins, or one that is so many days later: an index by time serves. */
const startOf = (day: string, later = 0): string =>
  `(${day}::date + ${later})::timestamp at time zone 'UTC'`;

/** The statement that lists the chains and days which have rows. */
function partitionsOf({ name, layout }: Relation, { chains, from, to }: Choice): Statement {
  const wanted = chains.length === 0 ? null : `{${chains.join(',')}}`;
  const isChain = '($1::bigint[] is null or chain_id = any($1::bigint[]))';
  const isInDays = `("timestamp" is null
    or (($2::date is null or "timestamp" >= ${startOf('$2')})
      and ($3::date is null or "timestamp" < ${startOf('$3', 1)})))`;
  return layout === 'day'
    ? {
        text: `select distinct chain_id, ("timestamp" at time zone 'UTC')::date as day
               from explorer.${quote(name)} where ${isChain} and ${isInDays} order by 1, 2 nulls last`,
        values: [wanted, from, to],
      }
    : {
        text: `select distinct chain_id from explorer.${quote(name)} where ${isChain} order by 1`,
        values: [wanted],
      };
}

/**
 * The statement that reads a partition. Readers of Parquet take the chain from the path, and refuse one that is
 * in the file too; a CSV file has all columns.
 */
function statementOf(
  { name, layout, columns }: Relation,
  chain: string | null,
  day: string | null,
  format: Format,
): Statement {
  const isInPath = layout !== 'whole' && format === 'parquet';
  const read = columns.filter((column) => !isInPath || column !== 'chain_id').map(quote);
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (layout !== 'whole') {
    conditions.push(chain === null ? 'chain_id is null' : `chain_id = ${bind(chain)}::bigint`);
  }
  if (layout === 'day' && day === null) conditions.push('"timestamp" is null');
  if (layout === 'day' && day !== null) {
    const bound = bind(day);
    conditions.push(`"timestamp" >= ${startOf(bound)} and "timestamp" < ${startOf(bound, 1)}`);
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const order = layout === 'day' ? 'order by "timestamp"' : '';
  return {
    text: `select ${read.join(', ')} from explorer.${quote(name)} ${where} ${order}`,
    values,
  };
}
