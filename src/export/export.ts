import { appendFileSync, lstatSync, readdirSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { types, type Pool } from 'pg';
import { errorOf } from '../failure.ts';
import { isForeign } from '../owner.ts';
import { readAnswer, type Column, type Row, type Statement } from '../query/read.ts';
import {
  csvHead,
  csvLines,
  dayNumber,
  isArray,
  jsonText,
  microseconds,
  type CsvFormat,
} from '../query/value.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

/** The export's target or format is impossible. The message says what to do. */
export class ExportError extends errorOf('export') {}

/** A statement to export. `isPartitioned`: its first column is the folder of a row, which names its chain. */
export interface Source extends Statement {
  readonly name: string;
  readonly isPartitioned: boolean;
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
      }),
    `select table_name as name,
            coalesce(max('r.chain_id') filter (where column_name = 'chain_id'), 'null::bigint') as chain,
            coalesce(max(format('r.%I', column_name)) filter (where column_name in ('timestamp', 'block_time')), 'null::timestamptz') as time,
            string_agg(format('r.%I', column_name), ', ' order by position) filter (where column_name !~ 'page_id$') as fields,
            coalesce(string_agg(format(', r.%1$I::float8 / power(10, native_decimals) as %1$s_native', column_name), ''
                                order by position) filter (where unit = 'wei' and kind = 'table')
                     || ', native_symbol', '') as natives
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
  const values = [chains.length === 0 ? null : `{${chains.join(',')}}`, ...days];
  return rows.map(({ name, chain, time, fields, natives }) => {
    const isPartitioned = chain.startsWith('r.');
    const day = `coalesce((${time} at time zone 'UTC')::date::text, '__HIVE_DEFAULT_PARTITION__')`;
    const path = `concat('chain_id=', ${chain}${time.startsWith('r.') ? `, '/day=', ${day}` : ''})`;
    const text = `
      select ${isPartitioned ? `${path}, ` : ''}${fields}${natives}
      from explorer.${name} as r ${natives === '' ? '' : 'left join explorer.chains using (chain_id)'}
      where ($1::bigint[] is null or ${isPartitioned ? `${chain} = any($1)` : 'true'})
        and (${time} is null or (
          ($2::date is null or ${time} >= $2::date::timestamp at time zone 'UTC')
          and ($3::date is null or ${time} < ($3::date + 1)::timestamp at time zone 'UTC')))
      order by ${chain}, ${time}`;
    return { name, isPartitioned, text, values };
  });
}

type Writer = ReturnType<typeof parquetFile>;

function csvFile(path: string, columns: readonly Column[], format: CsvFormat): Writer {
  appendFileSync(path, csvHead(columns, format));
  const write = (rows: readonly Row[]) => files.appendFile(path, csvLines(columns, rows, format));
  return { write, end: async () => undefined };
}

export interface Target {
  readonly pool: Pool;
  readonly folder: string;
  readonly format: 'parquet' | CsvFormat;
  readonly signal: AbortSignal;
}

/** Writes the files of a source from one statement. The first `wide` value, no DECIMAL(38,0), starts them again. */
export async function exportSource(
  source: Source,
  target: Target,
  wide: ReadonlySet<string> = new Set(),
): Promise<{ name: string; rows: number; files: number }> {
  const { name, isPartitioned, ...statement } = source;
  const { pool, folder, format, signal } = target;
  const ending = format === 'parquet' ? format : 'csv';
  const found = new Set(wide);
  const open = (path: string, columns: readonly Column[]) =>
    format === 'parquet' ? parquetFile(path, columns, found) : csvFile(path, columns, format);
  let [current, writer, rowCount, fileCount] = ['', null as Writer | null, 0, 0];
  try {
    const bounds = { timeoutMs: 0, limit: null, signal };
    for await (const { columns, rows } of readAnswer(pool, statement, bounds)) {
      // Parquet readers take the chain from the path, and refuse it in the file as well.
      const isInFile = (_value: unknown, at: number) =>
        !isPartitioned || (at > 0 && (ending === 'csv' || columns[at]?.name !== 'chain_id'));
      const byPart = Map.groupBy(rows, (row) => (isPartitioned && row[0]) || '.');
      // A source that is one file has it even without rows.
      if (!isPartitioned) byPart.set('.', [...rows]);
      for (const [part, ofFile] of byPart) {
        if (writer === null || part !== current) {
          await writer?.end();
          const path = join(folder, name, part, `data.${ending}`);
          await files.mkdir(dirname(path), { recursive: true });
          [current, writer] = [part, open(path, columns.filter(isInFile))];
          fileCount += 1;
        }
        await writer.write(ofFile.map((row) => row.filter(isInFile)));
      }
      rowCount += rows.length;
    }
    await writer?.end();
    return { name, rows: rowCount, files: fileCount };
  } catch (error) {
    if (found.size === wide.size) throw error;
    await files.rm(join(folder, name), { recursive: true });
    return exportSource(source, target, found);
  }
}

/** A Parquet type, and its value for a text of Postgres; null: it has none. */
type Storage = readonly [
  element: Omit<SchemaElement, 'name'>,
  store: (text: string) => boolean | number | bigint | string | null,
];

const timestamp = (isAdjustedToUTC: boolean): Storage => [
  { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } },
  microseconds,
];

const is = types.builtins;
const numeric: number = is.NUMERIC;
const bytes16 = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 } as const;
const decimal = { ...bytes16, converted_type: 'DECIMAL', precision: 38, scale: 0 } as const;
const exact: Storage = [{ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, String];
const double: Storage = [{ type: 'DOUBLE' }, Number];
const storages: ReadonlyMap<number, Storage> = new Map<number, Storage>([
  [is.BOOL, [{ type: 'BOOLEAN' }, (text) => text === 't']],
  [is.INT2, [{ type: 'INT32' }, Number]],
  [is.INT4, [{ type: 'INT32' }, Number]],
  [is.INT8, [{ type: 'INT64' }, BigInt]],
  [is.FLOAT4, [{ type: 'FLOAT' }, Number]],
  [is.FLOAT8, double],
  [is.NUMERIC, [decimal, (text) => (/^-?\d{1,38}$/u.test(text) ? BigInt(text) : null)]],
  [is.DATE, [{ type: 'INT32', converted_type: 'DATE' }, dayNumber]],
  [is.TIMESTAMP, timestamp(false)],
  [is.TIMESTAMPTZ, timestamp(true)],
]);

/** Other types have all digits, as Postgres writes them; arrays are JSON. */
const storageOf = (type: number): Storage =>
  storages.get(type) ?? (isArray(type) ? [exact[0], (text) => jsonText(text, type)] : exact);

/** Pieces of an answer in a row group, each of at most 1,000 rows and a million characters. */
const groupPieces = 16;

/** Opens a file for rows of these columns. Currencies and `wide` columns are doubles beside texts. @throws ExportError */
function parquetFile(path: string, all: readonly Column[], wide: Set<string>) {
  const columns = all.flatMap(({ name, type }, at) => {
    const stored = (own: string, [element, store]: Storage) => ({
      name: own,
      element: { ...element, name: own, repetition_type: 'OPTIONAL' } as const,
      valueOf: (row: Row) => {
        const text = row[at] ?? null;
        const value = text === null ? null : store(text);
        if (value !== null || text === null) return value;
        if (type === numeric) wide.add(name);
        throw new ExportError(
          `column ${name} holds ${text}, which Parquet has no value for: --format csv takes it.`,
        );
      },
    });
    const isExact = type !== numeric || !(wide.has(name) || name.endsWith('_native'));
    if (isExact) return [stored(name, storageOf(type))];
    return [stored(name, double), stored(`${name}_text`, exact)];
  });
  const elements = columns.map(({ element }) => element);
  const schema = [{ name: 'root', num_children: elements.length }, ...elements];
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
  const file = new ParquetWriter({ writer: fileWriter(path), schema, codec: 'ZSTD', compressors });
  const pieces: (readonly Row[])[] = [];
  const flush = async () => {
    const rows = pieces.splice(0).flat();
    const columnData = columns.map(({ name, valueOf }) => ({ name, data: rows.map(valueOf) }));
    await file.write({ columnData, rowGroupSize: Math.max(1, rows.length) });
  };
  return {
    async write(rows: readonly Row[]) {
      if (pieces.push(rows) === groupPieces) await flush();
    },
    async end() {
      await flush();
      await file.finish();
    },
  };
}

/** In each exported folder: no other folder is replaced. */
const mark = '.explorer-etl-export';
const ours = new Set([mark, 'data.parquet', 'data.csv']);

/** Lets `write` fill a hidden folder, then replaces the target with it. @throws ExportError */
export async function fillFolder(
  folder: string,
  overwrite: boolean,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  isReplaced(folder, overwrite);
  await files.mkdir(dirname(folder), { recursive: true });
  const beside = await files.mkdtemp(join(dirname(folder), `.${basename(folder)}.`));
  try {
    const temporary = join(beside, 'new');
    await files.mkdir(temporary);
    await files.writeFile(join(temporary, mark), '');
    await write(temporary);
    if (isReplaced(folder, overwrite)) await files.rename(folder, join(beside, 'old'));
    await files.rename(temporary, folder);
  } finally {
    await files.rm(beside, { recursive: true, force: true });
  }
}

/** Whether the folder exists. @throws ExportError if it may not be replaced */
function isReplaced(folder: string, overwrite: boolean): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw new ExportError(`${folder} is not a folder: name a new one.`);
  // Who owns it could put links there while we delete.
  if (isForeign(found)) throw new ExportError(`${folder} is another user's: name a new one.`);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const all = entries.filter((entry) => !entry.isDirectory());
  if (all.length === 0) return true;
  const isMarked = all.some(({ name }) => name === mark);
  const isOurs = isMarked && all.every((entry) => entry.isFile() && ours.has(entry.name));
  if (overwrite && isOurs) return true;
  const why = isOurs
    ? 'is not empty: name a new folder, or add --overwrite to replace the export'
    : 'holds files that no export made: name another folder';
  throw new ExportError(`${folder} ${why}.`);
}
