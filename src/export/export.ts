import { join } from 'node:path';
import type { Pool } from 'pg';
import { readAnswer, type Column, type Statement } from '../query/read.ts';
import { readAsOf } from './as-of.ts';
import { takeCensus, type Counted } from './census.ts';
import { csvFile } from './csv-file.ts';
import { describe, demandSame } from './describe.ts';
import { remove } from './folder.ts';
import { microseconds } from './instant.ts';
import type { ExportedFile, Manifest } from './manifest.ts';
import { parquetFile } from './parquet-file.ts';
import {
  isChosen,
  pathOf,
  statementOf,
  type Choice,
  type Format,
  type Partition,
} from './partition.ts';
import type { Relation } from './relation.ts';
import { digestFile, makeFile } from './sink.ts';

/** What is exported: a relation, or a question with the statement that asks it. */
export type Source =
  | { readonly kind: 'relation'; readonly relation: Relation }
  | { readonly kind: 'question'; readonly name: string; readonly statement: Statement };

export interface Export {
  readonly pool: Pool;
  readonly folder: string;
  readonly format: Format;
  readonly choice: Choice;
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
}

/** What became of the files of one relation or question. */
export interface Outcome {
  readonly name: string;
  readonly layout: Relation['layout'];
  /** Of the files that were chosen: those written and those kept. */
  readonly rows: number;
  readonly bytes: number;
  readonly written: number;
  readonly kept: number;
  readonly removed: number;
}

const everything: Partition = { chain_id: null, day: null };

/**
 * Brings the files of a relation or question up to what is stored. Each file is one statement's answer, and so
 * one moment's; the manifest says which. A file of a table stays if its partition is what it was.
 *
 * @throws ExportError, and what `readAnswer` throws. What was made by then is in the manifest once that is saved.
 */
export async function exportSource(work: Export, source: Source): Promise<Outcome> {
  if (source.kind === 'relation' && source.relation.layout !== 'whole') {
    return exportPartitions(work, source.relation);
  }
  const name = source.kind === 'relation' ? source.relation.name : source.name;
  const statement =
    source.kind === 'relation'
      ? statementOf(source.relation, everything, work.format)
      : source.statement;
  const path = pathOf(name, 'whole', everything, work.format);
  const file = await writeFile(work, source, { path, partition: everything, statement });
  const { rows = 0, bytes = 0 } = file ?? {};
  return { name, layout: 'whole', rows, bytes, written: 1, kept: 0, removed: 0 };
}

async function exportPartitions(work: Export, relation: Relation): Promise<Outcome> {
  const { pool, choice, manifest, format, signal } = work;
  const { name, layout } = relation;
  demandSame(manifest, relation, format);
  describe(manifest, relation, format);
  const standing = await standingFiles(work, relation);
  const since = [...standing.values()].map(({ as_of: asOf }) => asOf).toSorted(byTime)[0] ?? null;
  const census = await takeCensus(pool, relation, choice, since, signal);
  const made: ExportedFile[] = [];
  const stayed: ExportedFile[] = [];
  for (const counted of census.partitions) {
    const path = pathOf(name, layout, counted, format);
    const file = standing.get(path);
    if (relation.isDated && file !== undefined && isUnchanged(file, counted, census.now)) {
      // It is what would be written now.
      const current = { ...file, as_of: census.asOf };
      manifest.put(name, current);
      stayed.push(current);
      continue;
    }
    const statement = statementOf(relation, counted, format);
    const source = { kind: 'relation', relation } as const;
    const written = await writeFile(work, source, { path, partition: counted, statement });
    if (written !== null) made.push(written);
  }
  const removed = await removeOthers(work, relation, [...made, ...stayed]);
  const all = [...made, ...stayed];
  return {
    name,
    layout,
    rows: all.reduce((sum, { rows }) => sum + rows, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    written: made.length,
    kept: stayed.length,
    removed,
  };
}

const byTime = (a: string, b: string): number =>
  Number((microseconds(a) ?? 0n) - (microseconds(b) ?? 0n));

/**
 * No row changed since, so each of now is one of then; and there are as many. So none left, whether it was
 * deleted or is in another partition now. Where the clock was set back, what changed since is told as older.
 */
const isUnchanged = (file: ExportedFile, { rows, changedAt }: Counted, now: string): boolean =>
  file.rows === rows &&
  byTime(file.as_of, now) <= 0 &&
  (changedAt === null || byTime(changedAt, file.as_of) < 0);

/** Those files of the choice that are in the folder, byte for byte, by path. */
async function standingFiles(
  { manifest, folder, choice, signal }: Export,
  { name }: Relation,
): Promise<ReadonlyMap<string, ExportedFile>> {
  const standing = new Map<string, ExportedFile>();
  for (const file of manifest.files(name)) {
    if (!isChosen(file, choice)) continue;
    signal.throwIfAborted();
    const found = await digestFile(join(folder, file.path));
    if (found?.sha256 === file.sha256) standing.set(file.path, file);
  }
  return standing;
}

/** Removes the files of chosen partitions that have no rows any more. */
async function removeOthers(
  { manifest, folder, choice }: Export,
  { name }: Relation,
  current: readonly ExportedFile[],
): Promise<number> {
  const paths = new Set(current.map(({ path }) => path));
  const others = manifest
    .files(name)
    .filter((file) => isChosen(file, choice) && !paths.has(file.path));
  for (const { path } of others) {
    // First the file: a manifest that tells of too much is found out, a file that nobody tells of is read.
    await remove(folder, path);
    manifest.drop(name, path);
  }
  return others.length;
}

interface Target {
  readonly path: string;
  readonly partition: Partition;
  readonly statement: Statement;
}

/** Writes a file; null where its partition has no rows any more. */
async function writeFile(
  { pool, folder, format, manifest, signal }: Export,
  source: Source,
  { path, partition, statement }: Target,
): Promise<ExportedFile | null> {
  const isWhole = partition === everything;
  const { asOf } = await readAsOf(pool, signal);
  let rows = 0;
  let columns: readonly Column[] = [];
  const digest = await makeFile(join(folder, path), async (sink) => {
    const file =
      format === 'csv' ? csvFile(sink) : parquetFile(sink, `explorer-etl ${manifest.head.program}`);
    const bounds = { timeoutMs: 0, limit: null, signal };
    await readAnswer(pool, statement, bounds, {
      begin(all) {
        columns = all;
        file.begin(all);
      },
      async rows(some) {
        rows += some.length;
        await file.rows(some);
      },
    });
    await file.end();
    return isWhole || rows > 0;
  });
  if (digest === null) return null;
  const { name } = source.kind === 'relation' ? source.relation : source;
  if (isWhole)
    describe(manifest, source.kind === 'relation' ? source.relation : { name, columns }, format);
  const { chain_id: chain, day } = partition;
  const written = { path, chain_id: chain, day, rows, ...digest, as_of: asOf };
  manifest.put(name, written);
  await manifest.saveNowAndThen();
  return written;
}
