import { appendFileSync, lstatSync, readdirSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { types, type Pool } from 'pg';
import { errorOf } from '../failure.ts';
import { readAnswer, type Column, type Row, type Statement } from '../query/read.ts';
import { csvHead, csvLines, isArray, jsonText } from '../query/value.ts';

/** The export's target or format is impossible. The message says what to do. */
export class ExportError extends errorOf('export') {}

/** A statement to export. Its first columns are for the path: `lead` values, of which `keys` have names. */
export interface Source extends Statement {
  readonly name: string;
  readonly keys: readonly string[];
  readonly lead: number;
}

/**
 * The named tables and views that this role may read, without names all its tables, by chain and UTC day. No chains:
 * all; `days`: the first and the last, null: no bound. Rows without a time are always included.
 */
export async function relationSources(
  pool: Pool,
  names: readonly string[],
  chains: readonly number[],
  days: readonly (string | null)[],
): Promise<Source[]> {
  const { rows } = await pool.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text) as columns
     from information_schema.tables join information_schema.columns using (table_schema, table_name)
     where table_schema = 'explorer' and table_name ~ '^[a-z][a-z0-9_]*$'
       and (table_name = any($1) or ($1::text[] = '{}' and table_type = 'BASE TABLE'))
     group by table_name order by table_name`,
    [names],
  );
  const unknown = names.find((name) => rows.every((row) => row.name !== name));
  if (unknown !== undefined) {
    throw new ExportError(
      `schema explorer has no table or view ${unknown}: docs/tables.md lists them; --query exports a question or a statement.`,
    );
  }
  const values = [chains.length === 0 ? null : `{${chains.join(',')}}`, ...days];
  return rows.map(({ name, columns }) => {
    const [hasChain, hasTime] = ['chain_id', 'timestamp'].map((one) => columns.includes(one));
    const chain = hasChain ? 'chain_id' : 'null::bigint';
    const time = hasTime ? '"timestamp"' : 'null::timestamptz';
    const text = `
      select ${chain}, (${time} at time zone 'UTC')::date, * from explorer.${name}
      where ($1::bigint[] is null or ${hasChain ? 'chain_id = any($1)' : 'true'})
        and (${time} is null or (
          ($2::date is null or ${time} >= $2::date::timestamp at time zone 'UTC')
          and ($3::date is null or ${time} < ($3::date + 1)::timestamp at time zone 'UTC')))
      order by ${chain}, ${time}`;
    const keys = !hasChain ? [] : hasTime ? ['chain_id', 'day'] : ['chain_id'];
    return { name, keys, lead: 2, text, values };
  });
}

type Writer = ReturnType<typeof parquetFile>;

const openFile = {
  parquet: parquetFile,
  csv(path: string, columns: readonly Column[]): Writer {
    appendFileSync(path, csvHead(columns));
    const write = (rows: readonly Row[]) => files.appendFile(path, csvLines(columns, rows));
    return { write, end: async () => undefined };
  },
};

export interface Target {
  readonly pool: Pool;
  readonly folder: string;
  readonly format: keyof typeof openFile;
  readonly signal: AbortSignal;
}

/** Writes the files of a source one by one, from one statement, so from one moment. */
export async function exportSource(
  { name, keys, lead, ...statement }: Source,
  { pool, folder, format, signal }: Target,
) {
  const pathOf = (row: Row) => {
    const parts = keys.map((key, at) => `${key}=${row[at] ?? '__HIVE_DEFAULT_PARTITION__'}`);
    return join(folder, name, ...parts, `data.${format}`);
  };
  let [current, writer] = ['', null as Writer | null];
  const outcome = { name, rows: 0, files: 0 };
  const bounds = { timeoutMs: 0, limit: null, signal };
  for await (const { columns, rows } of readAnswer(pool, statement, bounds)) {
    // Parquet readers take the chain from the path, and refuse it in the file as well.
    const isInFile = (_value: unknown, at: number) =>
      at >= lead && (format === 'csv' || !keys.includes(columns[at]?.name ?? ''));
    const byPath = Map.groupBy(rows, pathOf);
    // A source without keys has a file even without rows.
    if (keys.length === 0) byPath.set(pathOf([]), [...rows]);
    for (const [path, ofFile] of byPath) {
      if (writer === null || path !== current) {
        await writer?.end();
        await files.mkdir(dirname(path), { recursive: true });
        [current, writer] = [path, openFile[format](path, columns.filter(isInFile))];
        outcome.files += 1;
      }
      await writer.write(ofFile.map((row) => row.filter(isInFile)));
    }
    outcome.rows += rows.length;
  }
  await writer?.end();
  return outcome;
}

/** A Parquet type, and its value for a text of Postgres; null: it has none. */
type Storage = readonly [
  element: Omit<SchemaElement, 'name'>,
  store: (text: string) => boolean | number | bigint | string | null,
];

/** A day or a UTC time of the years 1 to 9999. */
const written = /^(\d{4}-\d\d-\d\d)(?: ([\d:]{8})(?:\.(\d+))?(?:\+00)?)?$/u;
const dayNumber = (day: string) => (written.test(day) ? Date.parse(day) / 86_400_000 : null);
const microseconds = (text: string) => {
  const [, day, time, fraction = ''] = written.exec(text) ?? [];
  if (day === undefined) return null;
  return BigInt(Date.parse(`${day}T${time}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
};
const timestamp = (isAdjustedToUTC: boolean): Storage => [
  { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } },
  microseconds,
];

const is = types.builtins;
const storages: ReadonlyMap<number, Storage> = new Map<number, Storage>([
  [is.BOOL, [{ type: 'BOOLEAN' }, (text) => text === 't']],
  [is.INT2, [{ type: 'INT32' }, Number]],
  [is.INT4, [{ type: 'INT32' }, Number]],
  [is.INT8, [{ type: 'INT64' }, BigInt]],
  [is.FLOAT4, [{ type: 'FLOAT' }, Number]],
  [is.FLOAT8, [{ type: 'DOUBLE' }, Number]],
  [is.DATE, [{ type: 'INT32', converted_type: 'DATE' }, dayNumber]],
  [is.TIMESTAMP, timestamp(false)],
  [is.TIMESTAMPTZ, timestamp(true)],
]);

/** All other types: arrays as JSON, the rest with all digits, as Postgres writes them. */
const asText = (type: number): Storage => [
  { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  isArray(type) ? (text) => jsonText(text, type) : String,
];

/** Pieces of an answer in a row group, each of at most 1,000 rows and a million characters. */
const groupPieces = 16;

/** Opens a file that gets rows of these columns; `end` writes the rest. */
function parquetFile(path: string, all: readonly Column[]) {
  const columns = all.map(({ name, type }) => {
    const [element, store] = storages.get(type) ?? asText(type);
    const valueOf = (text: string | null) => {
      const value = text === null ? null : store(text);
      if (value !== null || text === null) return value;
      throw new ExportError(
        `column ${name} holds ${text}, which Parquet has no value for: --format csv takes it.`,
      );
    };
    return { name, valueOf, element: { ...element, name, repetition_type: 'OPTIONAL' } as const };
  });
  const schema = [{ name: 'root', num_children: all.length }, ...columns.map((one) => one.element)];
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
  const file = new ParquetWriter({ writer: fileWriter(path), schema, codec: 'ZSTD', compressors });
  const pieces: (readonly Row[])[] = [];
  const flush = async () => {
    const rows = pieces.splice(0).flat();
    const columnData = columns.map(({ name, valueOf }, at) => {
      return { name, data: rows.map((row) => valueOf(row[at] ?? null)) };
    });
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
const ours: ReadonlySet<string> = new Set([mark, 'data.parquet', 'data.csv']);

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
  if (!found.isDirectory()) throw new ExportError(`${folder} is no folder: name a new one.`);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const all = entries.filter((entry) => !entry.isDirectory());
  if (all.length === 0) return true;
  const isOurs = all.every((entry) => entry.isFile() && ours.has(entry.name));
  if (!isOurs || all.every(({ name }) => name !== mark)) {
    throw new ExportError(`${folder} holds files that no export made: name another folder.`);
  }
  if (overwrite) return true;
  throw new ExportError(
    `${folder} is not empty: name a new folder, or add --overwrite to replace the export.`,
  );
}
