import { hash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pool } from 'pg';
import { z } from 'zod';
import { codeOfFailure } from '../db/failure.ts';
import { rowsOf } from '../db/transaction.ts';
import { readAnswer, type Column, type TextRow, type Statement } from '../query/read.ts';
import { csvHead, csvLines, type CsvFormat } from '../query/value.ts';
import type { Contents, Holding, Written } from './folder.ts';
import { ExportError, parquetFile } from './parquet.ts';

/** A statement to export. `isPartitioned`: its first column is the folder of a row, which names its chain. */
export interface Source extends Statement {
  readonly name: string;
  readonly isPartitioned: boolean;
  /** Whether the statement reads this part of the relation: a chain and day. */
  readonly covers: (part: string) => boolean;
  /** Reads each part with its rows and latest change, in µs and as text; null: rows of the relation can change unnoticed. */
  readonly counted: string | null;
}

/**
 * The named tables and views that this role may read, without names all its tables and the views of data, by chain and
 * UTC day. No chains: all; `days`: the first and the last, null: no bound. Rows without a time are always included.
 * Pages of the ledger are left out; beside wei is the amount in the chain's own currency.
 */
export async function relationSources(
  pool: Pool,
  names: readonly string[],
  chains: readonly number[],
  days: readonly (string | null)[],
): Promise<Source[]> {
  // A view without a chain, or of feeds, says how the copy itself is.
  const rows = await rowsOf(
    pool,
    () =>
      z.object({
        name: z.string(),
        chain: z.string(),
        time: z.string(),
        fields: z.string(),
        natives: z.string(),
        tracked: z.boolean(),
      }),
    `select table_name as name,
            coalesce(max('r.chain_id') filter (where column_name = 'chain_id'), 'null::bigint') as chain,
            coalesce(max(format('r.%I', column_name)) filter (where column_name in ('timestamp', 'block_time')), 'null::timestamptz') as time,
            string_agg(format('r.%I', column_name), ', ' order by position) filter (where column_name !~ 'page_id$') as fields,
            coalesce(string_agg(format(', r.%1$I::float8 / power(10, native_decimals) as %1$s_native', column_name), ''
                                order by position) filter (where unit = 'wei' and kind = 'table')
                     || ', native_symbol', '') as natives,
            bool_or(kind = 'table' and column_name = 'updated_at') as tracked
     from information_schema.columns join explorer.dictionary using (table_name, column_name)
     where table_schema = 'explorer' and table_name ~ '^[a-z][a-z0-9_]*$'
     group by table_name
     having table_name = any($1) or ($1 = '{}' and (max(kind) = 'table'
       or array_agg(column_name::text) @> '{chain_id}' and not array_agg(column_name::text) && '{feed,operation}'))
     order by table_name`,
    [names],
  );
  const unknown = names.find((name) => rows.every((row) => row.name !== name));
  if (unknown !== undefined) {
    throw new ExportError(
      `no table or view ${unknown}: see docs/tables.md; questions need --query.`,
    );
  }
  const [since = null, until = null] = days;
  const covers = (part: string) => {
    const { chain, day = noDay } =
      /chain_id=(?<chain>\d*)(?:\/day=(?<day>.*))?/u.exec(part)?.groups ?? {};
    const isChosen = chain === undefined || chains.length === 0 || chains.includes(Number(chain));
    return isChosen && (day === noDay || (day >= (since ?? day) && day <= (until ?? day)));
  };
  const values = [chains.length === 0 ? null : `{${chains.join(',')}}`, ...days, null];
  return rows.map(({ name, chain, time, fields, natives, tracked }) => {
    const isPartitioned = chain.startsWith('r.');
    const day = `coalesce((${time} at time zone 'UTC')::date::text, '${noDay}')`;
    const path = isPartitioned
      ? `concat('chain_id=', ${chain}${time.startsWith('r.') ? `, '/day=', ${day}` : ''})`
      : `'.'`;
    const from = `
      from explorer.${name} as r ${natives === '' ? '' : 'left join explorer.chains using (chain_id)'}
      where ($1::bigint[] is null or ${isPartitioned ? `${chain} = any($1)` : 'true'})
        and (${time} is null or (
          ($2::date is null or ${time} >= $2::date::timestamp at time zone 'UTC')
          and ($3::date is null or ${time} < ($3::date + 1)::timestamp at time zone 'UTC')))
        and ($4::text[] is null or ${path} = any($4))`;
    const text = `select ${isPartitioned ? `${path}, ` : ''}${fields}${natives}${from} order by ${chain}, ${time}`;
    const latest = 'max(r.updated_at)';
    const counted = `select ${path}, count(*), extract(epoch from ${latest}) * 1000000, ${latest}${from} group by 1`;
    return { name, isPartitioned, text, values, covers, counted: tracked ? counted : null };
  });
}

/** The day of rows without a time. */
const noDay = '__HIVE_DEFAULT_PARTITION__';

/**
 * As of when an export reads: a bound below which nothing changes any more, in µs, and each chain's currency; and of
 * what, for the bound says nothing of another database, nor of a copy that a failover has made the primary.
 */
export async function readMoment(pool: Pool): Promise<Moment> {
  const [moment] = await rowsOf(
    pool,
    () => momentSchema,
    `select (extract(epoch from greatest(explorer.changes_until(), 'epoch')) * 1000000)::float8 as until,
            coalesce((select jsonb_object_agg(chain_id, concat(native_symbol, native_decimals)) from explorer.chains), '{}') as natives`,
  );
  return { ...(moment ?? { until: 0, natives: {} }), origin: await readOrigin(pool) };
}

const momentSchema = z.object({ until: z.number(), natives: z.record(z.string(), z.string()) });

/** What differs from database to database: the server, its timeline and the database's number, in SQL. */
const originParts = [
  'system_identifier from pg_control_system()',
  // After a failover, the control file has the new one only with the next checkpoint, minutes later.
  `case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
   else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end`,
  'oid from pg_database where datname = current_database()',
];

/** How a server refuses a function: no right, not supported, not with its settings, or it lacks it. */
const refusals = new Set<string | null>(['42501', '0A000', '55000', '42883']);

/** A part that the server refuses is empty: Aurora has no timeline to show, and one copy of the data. */
async function readOrigin(pool: Pool): Promise<string> {
  const parts: string[] = [];
  for (const part of originParts) {
    const statement = `select (select ${part})::text as part`;
    const [found] = await rowsOf(pool, () => partSchema, statement).catch((error: unknown) => {
      if (refusals.has(codeOfFailure(error))) return [];
      throw error;
    });
    parts.push(found?.part ?? '');
  }
  return parts.join('/');
}

const partSchema = z.object({ part: z.string().nullable() });
type Moment = z.infer<typeof momentSchema> & { readonly origin: string };

type Writer = ReturnType<typeof parquetFile>;

function csvFile(path: string, columns: readonly Column[], format: CsvFormat): Writer {
  appendFileSync(path, csvHead(columns, format));
  const write = (rows: readonly TextRow[]) =>
    files.appendFile(path, csvLines(columns, rows, format));
  return { write, end: async () => undefined };
}

export interface Sink {
  readonly pool: Pool;
  readonly folder: string;
  readonly format: 'parquet' | CsvFormat;
  readonly signal: AbortSignal;
  readonly moment: Moment;
  /** What the folder that this replaces holds; null: all is exported. */
  readonly contents: Contents | null;
}

/** The part of a source that changed since the folder was filled. */
async function changedPart(source: Source, target: Sink, contents: Contents): Promise<Source> {
  const { counted, covers, values } = source;
  if (counted === null) return source;
  const held = new Map(Object.entries(contents[source.name] ?? {}));
  const changed = new Set([...held.keys()].filter(covers));
  const bounds = { timeoutMs: 0, limit: null, signal: target.signal };
  for await (const { rows } of readAnswer(target.pool, { text: counted, values }, bounds)) {
    for (const [part, count, changedAt, latest] of rows) {
      const file = held.get(String(part));
      const isSame =
        file?.rows === Number(count) &&
        Number(changedAt) < file.until &&
        // An older copy that was restored has an earlier one.
        latest === file.latest &&
        file.columns === columnsOf(source, target, String(part));
      changed[isSame ? 'delete' : 'add'](String(part));
    }
  }
  const days = [...changed].flatMap((part) => /\d{4}-\d\d-\d\d$/u.exec(part) ?? []).toSorted();
  const parts = `{${[...changed].map((part) => `"${part}"`).join(',')}}`;
  // An index finds the days.
  const near = values.slice(1, 3).map((bound, at) => days.at(-at) ?? bound);
  return {
    ...source,
    values: [...values.slice(0, 1), ...near, parts],
    covers: (part) => changed.has(part),
  };
}

/** Differs if a file of the part would have other columns, amounts in another currency, or rows of another database. */
function columnsOf({ text }: Source, { format, moment }: Sink, part: string): string {
  const native = moment.natives[/\d+/u.exec(part)?.[0] ?? ''] ?? '';
  return hash('sha256', text + format + moment.origin + native, 'base64url').slice(0, 12);
}

/** Writes the files of a source from one statement. */
export async function exportSource(
  all: Source,
  target: Sink,
): Promise<Written & { readonly rows: number }> {
  const { pool, folder, format, signal, contents, moment } = target;
  const source = contents === null ? all : await changedPart(all, target, contents);
  const { name, isPartitioned, covers, text, values } = source;
  const ending = format === 'parquet' ? format : 'csv';
  const open = (path: string, columns: readonly Column[]) =>
    format === 'parquet' ? parquetFile(path, columns) : csvFile(path, columns, format);
  const parts = new Map<string, Holding>();
  if (contents !== null && values.at(-1) === '{}') return { name, ending, rows: 0, parts, covers };
  let [current, writer, rowCount] = ['', null as Writer | null, 0];
  const bounds = { timeoutMs: 0, limit: null, signal };
  for await (const { columns, rows } of readAnswer(pool, { text, values }, bounds)) {
    // Parquet readers take the chain from the path, and refuse it in the file as well.
    const isInFile = (_value: unknown, at: number) =>
      !isPartitioned || (at > 0 && (ending === 'csv' || columns[at]?.name !== 'chain_id'));
    const place = columns.findIndex(({ name: column }) => column === 'updated_at');
    const byPart = Map.groupBy(rows, (row) => (isPartitioned && row[0]) || '.');
    // A source that is one file has it even without rows.
    if (!isPartitioned) byPart.set('.', [...rows]);
    for (const [part, ofFile] of byPart) {
      if (writer === null || part !== current) {
        await writer?.end();
        const path = join(folder, name, part, `data.${ending}`);
        await files.mkdir(dirname(path), { recursive: true });
        [current, writer] = [part, open(path, columns.filter(isInFile))];
      }
      await writer.write(ofFile.map((row) => row.filter(isInFile)));
      const before = parts.get(part) ?? { rows: 0, latest: '' };
      const changes = ofFile.map((row) => row[place] ?? '');
      // As texts of one time zone they are in order, too.
      const latest = changes.reduce((a, b) => (a > b ? a : b), before.latest);
      const file = { rows: before.rows + ofFile.length, until: moment.until, latest };
      parts.set(part, { ...file, columns: columnsOf(source, target, part) });
    }
    rowCount += rows.length;
  }
  await writer?.end();
  return { name, ending, rows: rowCount, parts, covers };
}
