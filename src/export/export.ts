import { join } from 'node:path';
import type { Pool } from 'pg';
import { readAnswer, type Statement } from '../query/read.ts';
import { collect } from './collect.ts';
import { csvFile } from './csv-file.ts';
import { makeFile } from './data-file.ts';
import { parquetFile } from './parquet-file.ts';
import { partitionsOf, pathOf, statementOf, type Choice, type Format } from './partition.ts';
import type { Layout, Relation } from './relation.ts';

/** What is exported: a relation, or the answer to a statement, which is one file. */
export type Source = Relation | { readonly name: string; readonly statement: Statement };

export interface Export {
  readonly pool: Pool;
  /** New, and nobody else's. */
  readonly folder: string;
  readonly format: Format;
  readonly choice: Choice;
  /** The program and its version, for the files. */
  readonly createdBy: string;
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
  const { name } = source;
  const layout = 'layout' in source ? source.layout : 'whole';
  let [rows, bytes, files] = [0, 0, 0];
  for (const { path, statement } of await filesOf(work, source)) {
    const file = await writeFile(work, path, statement);
    rows += file.rows;
    bytes += file.bytes;
    files += 1;
  }
  return { name, layout, rows, bytes, files };
}

interface Target {
  readonly path: string;
  readonly statement: Statement;
}

async function filesOf(
  { pool, format, choice, signal }: Export,
  source: Source,
): Promise<Target[]> {
  const whole = { chain_id: null, day: null };
  if ('statement' in source) {
    const { name, statement } = source;
    return [{ path: pathOf(name, 'whole', whole, format), statement }];
  }
  const { name, layout } = source;
  const partitions =
    layout === 'whole'
      ? [whole]
      : (await collect(pool, partitionsOf(source, choice), signal)).map(
          ([chain = null, day = null]) => ({ chain_id: chain, day }),
        );
  return partitions.map((partition) => ({
    path: pathOf(name, layout, partition, format),
    statement: statementOf(source, partition, format),
  }));
}

async function writeFile(
  { pool, folder, format, createdBy, signal }: Export,
  path: string,
  statement: Statement,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  let rows = 0;
  const bytes = await makeFile(join(folder, path), async (sink) => {
    const file = format === 'csv' ? csvFile(sink) : parquetFile(sink, createdBy);
    await readAnswer(
      pool,
      statement,
      { timeoutMs: 0, limit: null, signal },
      {
        begin: (columns) => file.begin(columns),
        async rows(some) {
          rows += some.length;
          await file.rows(some);
        },
      },
    );
    await file.end();
  });
  return { rows, bytes };
}
