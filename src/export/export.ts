import { appendFileSync } from 'node:fs';
import {
  appendFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { escapeIdentifier, type Pool } from 'pg';
import { csvHead, csvLines } from '../query/csv.ts';
import { readAll, readAnswer, type Column, type Row, type Statement } from '../query/read.ts';
import { ExportError } from './failure.ts';
import { parquetFile, type FileWriter } from './parquet.ts';

export type Format = 'parquet' | 'csv';

export interface Relation {
  readonly name: string;
  readonly isTable: boolean;
  /** Its policies hide rows from a superuser, who reads as `pg_read_all_data`. */
  readonly isGuarded: boolean;
  readonly hasChain: boolean;
  readonly hasTime: boolean;
}

/** The tables and views that this role may read, by name. Names become folders. */
export async function readRelations(pool: Pool, signal: AbortSignal): Promise<Relation[]> {
  const text = `
    select json_build_object(
      'name', relname,
      'isTable', relkind in ('r', 'p'),
      'isGuarded', row_security_active(oid) and current_setting('row_security') = 'off',
      'hasChain', bool_or(attname = 'chain_id' and atttypid = 'bigint'::regtype),
      'hasTime', bool_or(attname = 'timestamp' and atttypid = 'timestamptz'::regtype))
    from pg_class join pg_attribute on attrelid = oid
    where relnamespace = to_regnamespace('explorer') and relkind in ('r', 'p', 'v', 'm')
      and not relispartition and relname ~ '^[a-z][a-z0-9_]*$' and has_table_privilege(oid, 'select')
    group by oid order by relname`;
  const rows = await readAll(pool, { text, values: [] }, signal);
  return rows.map(([relation]) => JSON.parse(relation ?? '') as Relation);
}

/** A statement to export. Its rows begin with the columns of `partition`, in their order. */
export interface Source extends Statement {
  readonly name: string;
  readonly partition: readonly string[];
}

/**
 * A relation's rows by chain and UTC day. No chains: all. `days` has the first and last, null: no bound; rows
 * without a time are always included.
 */
export function sourceOf(
  { name, hasChain, hasTime }: Relation,
  chains: readonly number[],
  [from, to]: readonly [from: string | null, to: string | null],
): Source {
  const relation = `explorer.${escapeIdentifier(name)}`;
  if (!hasChain) return { name, partition: [], text: `select * from ${relation}`, values: [] };
  const isOfChain = '($1::bigint[] is null or chain_id = any($1))';
  const chosen = chains.length === 0 ? null : `{${chains.join(',')}}`;
  if (!hasTime) {
    const text = `select chain_id, * from ${relation} where ${isOfChain} order by chain_id`;
    return { name, partition: ['chain_id'], text, values: [chosen] };
  }
  const text = `
    select chain_id, ("timestamp" at time zone 'UTC')::date, *
    from ${relation}
    where ${isOfChain} and ("timestamp" is null or (
      ($2::date is null or "timestamp" >= $2::date::timestamp at time zone 'UTC')
      and ($3::date is null or "timestamp" < ($3::date + 1)::timestamp at time zone 'UTC')))
    order by chain_id, "timestamp"`;
  return { name, partition: ['chain_id', 'day'], text, values: [chosen, from, to] };
}

export interface Outcome {
  readonly name: string;
  readonly rows: number;
  readonly files: number;
}

/** Writes the files of a source one by one, from one statement, so from one moment. */
export async function exportSource(
  pool: Pool,
  { name, partition, ...statement }: Source,
  folder: string,
  format: Format,
  signal: AbortSignal,
): Promise<Outcome> {
  const pathOf = (row: Row) => {
    const keys = partition.map((key, at) => `${key}=${row[at] ?? '__HIVE_DEFAULT_PARTITION__'}`);
    return join(folder, name, ...keys, `data.${format}`);
  };
  let open = null as { readonly path: string; readonly writer: FileWriter } | null;
  const outcome = { name, rows: 0, files: 0 };
  const bounds = { timeoutMs: 0, limit: null, signal };
  for await (const { columns, rows } of readAnswer(pool, statement, bounds)) {
    // Parquet readers take the chain from the path, and refuse it in the file as well.
    const isInFile = (_value: unknown, at: number) =>
      at >= partition.length && (format === 'csv' || !partition.includes(columns[at]?.name ?? ''));
    // A relation without partitions gets a file even without rows.
    const files =
      partition.length === 0 ? [[pathOf([]), rows] as const] : Map.groupBy(rows, pathOf);
    for (const [path, ofFile] of files) {
      if (path !== open?.path) {
        await open?.writer.end();
        await mkdir(dirname(path), { recursive: true });
        open = { path, writer: openFile[format](path, columns.filter(isInFile)) };
        outcome.files += 1;
      }
      await open.writer.write(ofFile.map((row) => row.filter(isInFile)));
    }
    outcome.rows += rows.length;
  }
  await open?.writer.end();
  return outcome;
}

const openFile: Record<Format, (path: string, columns: readonly Column[]) => FileWriter> = {
  parquet: parquetFile,
  csv: (path, columns) => {
    appendFileSync(path, csvHead(columns));
    return {
      write: (rows) => appendFile(path, csvLines(columns, rows)),
      end: async () => undefined,
    };
  },
};

/** In each exported folder: no other folder is replaced. */
const mark = '.explorer-etl-export';

/** Lets `write` fill a hidden folder, then replaces the target with it. */
export async function fillFolder<T>(
  folder: string,
  overwrite: boolean,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  await demandReplaceable(folder, overwrite);
  await mkdir(dirname(folder), { recursive: true });
  const beside = await mkdtemp(join(dirname(folder), `.${basename(folder)}.`));
  const [temporary, old] = [join(beside, 'new'), join(beside, 'old')];
  try {
    await mkdir(temporary);
    await writeFile(join(temporary, mark), '');
    const result = await write(temporary);
    await demandReplaceable(folder, overwrite);
    await rename(folder, old).catch(ignoreAbsence);
    await rename(temporary, folder).catch(async (error: unknown) => {
      await rename(old, folder).catch(ignoreAbsence);
      throw error;
    });
    return result;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

function ignoreAbsence(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}

/** @throws ExportError unless the folder is absent, or an export that may be replaced */
async function demandReplaceable(folder: string, overwrite: boolean): Promise<void> {
  const found = await lstat(folder).catch(ignoreAbsence);
  if (found === undefined) return;
  if (!found.isDirectory()) throw new ExportError(`${folder} is no folder: name a new one.`);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  if (entries.length === 0) return;
  const ours = new Set([mark, 'data.parquet', 'data.csv']);
  const other = entries.find(
    (entry) => !(entry.isDirectory() || (entry.isFile() && ours.has(entry.name))),
  );
  if (other !== undefined || entries.every(({ name }) => name !== mark)) {
    const what = other === undefined ? 'files' : join(other.parentPath, other.name);
    throw new ExportError(`${folder} holds ${what} that no export made: name another folder.`);
  }
  if (!overwrite)
    throw new ExportError(
      `${folder} is not empty: name a new folder, or add --overwrite to replace the export.`,
    );
}
