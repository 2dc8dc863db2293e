import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pool } from 'pg';
import { csvHead, csvLines } from '../query/csv.ts';
import { readAnswer, type Answer, type Column, type Statement } from '../query/read.ts';
import { parquetWriter, type FileWriter, type Sink } from './parquet.ts';
import {
  filesOf,
  pathOf,
  type Choice,
  type Format,
  type Layout,
  type Relation,
} from './relation.ts';

/** What is exported: a relation, or the answer to a statement, which is one file. */
export type Source = Relation | { readonly name: string; readonly statement: Statement };

export interface Export {
  readonly pool: Pool;
  /** New, and nobody else's. */
  readonly folder: string;
  readonly format: Format;
  readonly choice: Choice;
  readonly signal: AbortSignal;
}

/** What became files. */
export interface Outcome {
  readonly name: string;
  readonly layout: Layout;
  readonly rows: number;
  readonly bytes: number;
  readonly files: number;
}

/**
 * Writes the files of a relation or of an answer. Each file is the answer to one statement, and so of one moment.
 *
 * @throws ExportError, and what `readAnswer` throws
 */
export async function exportSource(work: Export, source: Source): Promise<Outcome> {
  const { pool, format, choice, signal } = work;
  const { name } = source;
  const layout = 'layout' in source ? source.layout : 'whole';
  const files =
    'statement' in source
      ? [{ path: pathOf({ name, layout }, null, null, format), statement: source.statement }]
      : await filesOf(pool, source, choice, format, signal);
  let [rows, bytes] = [0, 0];
  for (const { path, statement } of files) {
    const file = await writeFile(work, path, statement);
    rows += file.rows;
    bytes += file.bytes;
  }
  return { name, layout, rows, bytes, files: files.length };
}

/** Makes a file that is not there yet, and brings it to the disk. */
async function writeFile(
  { pool, folder, format, signal }: Export,
  path: string,
  statement: Statement,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  const file = await open(whole, 'wx');
  let [rows, bytes] = [0, 0];
  try {
    const sink: Sink = async (piece) => {
      await file.writeFile(piece);
      bytes += piece.byteLength;
    };
    const writer = format === 'csv' ? csvWriter(sink) : parquetWriter(sink);
    const answer: Answer = {
      begin: (columns) => writer.begin(columns),
      async rows(some) {
        rows += some.length;
        await writer.rows(some);
      },
    };
    await readAnswer(pool, statement, { timeoutMs: 0, limit: null, signal }, answer);
    await writer.end();
    await file.sync();
  } finally {
    await file.close();
  }
  return { rows, bytes };
}

/** Writes an answer as the CSV that `query` writes. */
function csvWriter(sink: Sink): FileWriter {
  let columns: readonly Column[] = [];
  let head = '';
  const write = (text: string) => sink(Buffer.from(text));
  return {
    begin(all) {
      columns = all;
      head = csvHead(all);
    },
    async rows(rows) {
      await write(head + csvLines(columns, rows));
      head = '';
    },
    end: () => write(head),
  };
}
