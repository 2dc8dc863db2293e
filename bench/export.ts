/**
 * `npm run bench:export -- (--database-url URL | --directory DIR) [--heap-mb 96]`: exports the user operations of a database of
 * `npm run bench:data`, as Parquet and as CSV. Beside it what COPY takes, and
 * whether DuckDB counts and sums the files as Postgres does the table. Exit code 1 where it does not.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { to } from 'pg-copy-streams';
import { answerOf, startChild } from './child.ts';
import { interruptSignal } from './interrupt.ts';
import { describeMachine } from './machine.ts';
import { openKept, withClient } from './server.ts';
import { drawTable, type Figure } from './table.ts';

export interface ExportInput {
  readonly databaseUrl: string;
  readonly folder: string;
  readonly format: 'parquet' | 'csv';
}

/** What an export took. */
export interface ExportRun {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

interface Copied {
  readonly seconds: number;
  readonly bytes: number;
}

const { values } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    directory: { type: 'string' },
    // What V8 keeps beyond what lives is the collector's choice: a limit shows how much lives.
    'heap-mb': { type: 'string' },
  },
});
const signal = interruptSignal();

const limit = values['heap-mb'] === undefined ? [] : [`--max-old-space-size=${values['heap-mb']}`];

const runExport = (input: ExportInput): Promise<ExportRun> =>
  answerOf<ExportRun>(
    // As package.json runs the program.
    startChild('export-process.ts', input, {
      signal,
      execArgv: ['--max-semi-space-size=16', ...limit],
    }),
  );

/** The least that Postgres takes to tell all rows, nothing done with them. */
async function copyOut(databaseUrl: string): Promise<Copied> {
  return withClient(databaseUrl, async (client) => {
    const begun = performance.now();
    let bytes = 0;
    const copy = client.query(to('copy explorer.user_operations to stdout (format csv)'));
    for await (const chunk of copy) bytes += (chunk as Buffer).byteLength;
    return { seconds: (performance.now() - begun) / 1000, bytes };
  });
}

/** The same of both, by chain. */
const sums = (of: { readonly integer: string; readonly micros: string }, source: string) => `
  select chain_id::varchar as chain, count(*)::varchar as rows, sum(fee::${of.integer})::varchar as fee,
         count(removed_at)::varchar as removed, sum(block_number::${of.integer})::varchar as blocks,
         ${of.micros.replace('?', 'min("timestamp")')}::varchar as first_at,
         ${of.micros.replace('?', 'max("timestamp")')}::varchar as last_at,
         sum(length(hash))::varchar as hashes
  from ${source} group by chain_id order by chain`;

async function readByDuckDb({ folder, format }: ExportInput): Promise<string> {
  const path = `'${folder}/user_operations/**/*.${format}'`;
  const source =
    format === 'parquet'
      ? path
      : `read_csv(${path}, all_varchar = true, allow_quoted_nulls = false)`;
  const micros = format === 'parquet' ? 'epoch_us(?)' : 'epoch_us((?)::timestamptz)';
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const read = await connection.runAndReadAll(sums({ integer: 'hugeint', micros }, source));
  return JSON.stringify(read.getRowObjectsJson());
}

const readByPostgres = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const micros = '(extract(epoch from ?) * 1000000)::bigint';
    const { rows } = await client.query<Readonly<Record<string, string>>>(
      sums({ integer: 'numeric', micros }, 'explorer.user_operations'),
    );
    return JSON.stringify(rows);
  });

async function measure(databaseUrl: string, folder: string): Promise<boolean> {
  const expected = await readByPostgres(databaseUrl);
  const rows = (JSON.parse(expected) as { rows: string }[]).reduce(
    (sum, chain) => sum + Number(chain.rows),
    0,
  );
  const copied = await copyOut(databaseUrl);
  const figures: Figure[] = [];
  let isEqual = true;
  for (const format of ['parquet', 'csv'] as const) {
    const input = { databaseUrl, folder: join(folder, format), format };
    const run = await runExport(input);
    const bytes = await sizeOf(input);
    const isSame = (await readByDuckDb(input)) === expected;
    isEqual &&= isSame;
    figures.push(...figuresOf(format, rows, { run, bytes, isSame }, copied));
  }
  console.log(await describeMachine(databaseUrl));
  console.log(drawTable(figures));
  return isEqual;
}

async function sizeOf({ folder, format }: ExportInput): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const read = await connection.runAndReadAll(
    `select sum(size)::double as size from read_blob('${folder}/user_operations/**/*.${format}')`,
  );
  return Number(read.getRowObjectsJson()[0]?.['size']);
}

interface Measured {
  readonly run: ExportRun;
  readonly bytes: number;
  readonly isSame: boolean;
}

const megabytes = (size: number) => `${(size / 2 ** 20).toFixed(0)} MB`;

function figuresOf(
  format: string,
  rows: number,
  { run, bytes, isSame }: Measured,
  copied: Copied,
): Figure[] {
  return [
    {
      name: `${format}: ${rows} operations, as DuckDB reads them`,
      measured: isSame ? 'equal' : 'NOT EQUAL',
      aim: 'equal',
      floor: '',
    },
    {
      name: `${format}: seconds; rows/s`,
      measured: `${run.seconds.toFixed(1)}; ${(rows / run.seconds).toFixed(0)}`,
      aim: '',
      floor: `${copied.seconds.toFixed(1)} COPY to csv`,
    },
    {
      name: `${format}: its processor time in node, µs a row`,
      measured: ((run.cpuSeconds * 1e6) / rows).toFixed(1),
      aim: '',
      floor: '',
    },
    {
      name: `${format}: bytes a row`,
      measured: (bytes / rows).toFixed(0),
      aim: '',
      floor: `${(copied.bytes / rows).toFixed(0)} COPY to csv`,
    },
    {
      name: `${format}: resident memory at most`,
      measured: megabytes(run.peakBytes),
      aim: 'flat',
      floor: '',
    },
  ];
}

const kept = await openKept(values);
const folder = await mkdtemp(join(tmpdir(), 'explorer-etl-export-'));
try {
  if (!(await measure(kept.url, folder))) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
  await kept.close();
}
