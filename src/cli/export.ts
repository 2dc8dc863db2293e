import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Option } from 'commander';
import type { Pool } from 'pg';
import { exportSource, type Outcome, type Source } from '../export/export.ts';
import { fillFolder } from '../export/folder.ts';
import type { Choice, Format } from '../export/partition.ts';
import { readRelations } from '../export/relation.ts';
import { momentForms, parseMoment } from '../time.ts';
import { chainOf, collect } from './chosen-feeds.ts';
import {
  exitCodes,
  UsageError,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { exits } from './exits.ts';
import { settingsOf } from './setup.ts';
import { demandData, existing } from './existing.ts';
import { chooseRelations, querySource } from './export-sources.ts';
import { onDatabase } from './on-database.ts';
import { version } from './version.ts';

interface ExportOptions extends GlobalOptions {
  readonly to: string;
  readonly overwrite?: boolean;
  readonly query?: string;
  readonly format: Format;
  readonly chain?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly demo?: boolean;
}

const formats: readonly Format[] = ['parquet', 'csv'];
const dayLength = 'yyyy-mm-dd'.length;

/** `export`: tables, views or the answer to a query as files that other programs read. */
export function registerExport({ command, run }: Registry): void {
  command
    .argument('[names...]', 'tables and views of schema explorer (default: all tables)')
    .requiredOption('--to <folder>', 'where to: a new folder')
    .option('--overwrite', 'replace the earlier export in that folder')
    .option('--query <query>', 'a question by its name, a file that ends in .sql, or a statement')
    .addOption(new Option('--format <format>', 'of the files').choices(formats).default('parquet'))
    .option('--chain <chain>', 'only this chain, by number or name (repeatable)', collect)
    .option('--since <day>', 'from this UTC day on, or that of so long ago, such as 7d')
    .option('--until <day>', 'up to this UTC day, or that of so long ago')
    .option('--demo', "export the demo's database")
    .addHelpText(
      'after',
      `
Files go by chain and day. The folder is there whole or not at all. --since and --until choose among
relations that go by day; others are exported whole.

Examples:
  explorer-etl export --to lake
  explorer-etl export user_operations blocks --to lake --chain 10 --since 7d --overwrite
  explorer-etl export --query top-senders --to report --format csv
`,
    )
    .action((names: readonly string[], options: ExportOptions, itself) =>
      run<ExportOptions>((context, all) => exportTo(context, all, names))(options, itself),
    );
}

/** @throws UsageError where a flag means no day */
function dayOf(flag: 'since' | 'until', value: string | undefined, at: Date): string | null {
  if (value === undefined) return null;
  const time = parseMoment(value, at);
  if (time !== null) return time.slice(0, dayLength);
  throw new UsageError(`--${flag} ${value}: not ${momentForms}`);
}

async function exportTo(
  context: Context,
  options: ExportOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const at = new Date();
  const from = dayOf('since', options.since, at);
  const to = dayOf('until', options.until, at);
  if (from !== null && to !== null && from > to) {
    throw new UsageError(`--since ${from} is after --until ${to}.`);
  }
  const settings = settingsOf(context, { ...options, chain: [] }, 'database');
  const chains = (options.chain ?? []).map((flag) => chainOf(flag, settings));
  const choice: Choice = { chains, from, to };
  const queries: Source[] = [];
  if (options.query !== undefined) {
    const today = at.toISOString().slice(0, dayLength);
    queries.push(await querySource(context, options.query, choice, today));
  }
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const { pool } = database;
    const all = await readRelations(pool, context.signal);
    const isQueryAlone = queries.length > 0 && names.length === 0;
    const { relations, leftOut } = isQueryAlone
      ? { relations: [], leftOut: [] }
      : chooseRelations(names, all);
    if (leftOut.length > 0) {
      context.stderr(
        `Left out: ${leftOut.join(', ')}. A superuser's rights are put off to read, and policies hide rows then: connect as the owner or as an analyst.\n`,
      );
    }
    const sources = [...relations, ...queries];
    const folders = new Set(sources.map(({ name }) => name));
    if (folders.size < sources.length) {
      throw new UsageError('the query has the name of a table: give its file another name.');
    }
    return exportSources(context, options, { pool, choice, sources, leftOut });
  });
}

interface Work {
  readonly pool: Pool;
  readonly choice: Choice;
  readonly sources: readonly Source[];
  readonly leftOut: readonly string[];
}

async function exportSources(
  context: Context,
  { to, overwrite = false, format, json, quiet }: ExportOptions,
  { pool, choice, sources, leftOut }: Work,
): Promise<ExitCode> {
  const { signal } = context;
  const folder = resolve(context.cwd, to);
  const begun = performance.now();
  const createdBy = `explorer-etl ${version()}`;
  const outcomes = await fillFolder(folder, overwrite, async (temporary) => {
    const made: Outcome[] = [];
    for (const source of sources) {
      const work = { pool, folder: temporary, format, choice, createdBy, signal };
      const outcome = await exportSource(work, source);
      made.push(outcome);
      if (!quiet && !json) context.stderr(`${describe(outcome, choice)}\n`);
    }
    return made;
  });
  const seconds = (performance.now() - begun) / 1000;
  const sum = sumOf(outcomes);
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/export/1',
      exit: exits.done,
      folder,
      format,
      seconds,
      ...sum,
      relations: outcomes,
      left_out: [...leftOut],
    });
  } else {
    const { rows, bytes, files } = sum;
    context.stdout(
      `${number.format(rows)} rows, ${megabytes(bytes)}, ${filesText(files)} in ${seconds.toFixed(1)} s: ${folder}\n`,
    );
  }
  return exitCodes.done;
}

const number = new Intl.NumberFormat('en-US');
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const filesText = (files: number): string =>
  files === 1 ? '1 file' : `${number.format(files)} files`;

/** A line of 80 columns. */
function describe({ name, layout, rows, bytes, files }: Outcome, { from, to }: Choice): string {
  const isBounded = layout !== 'day' && (from !== null || to !== null);
  return [
    `${name.padEnd(30)} ${number.format(rows).padStart(11)} rows ${megabytes(bytes).padStart(9)}  `,
    filesText(files),
    isBounded ? ' (all days)' : '',
  ].join('');
}

type Counts = Pick<Outcome, 'rows' | 'bytes' | 'files'>;

function sumOf(outcomes: readonly Outcome[]): Counts {
  const sum = (of: keyof Counts) => outcomes.reduce((all, one) => all + one[of], 0);
  return { rows: sum('rows'), bytes: sum('bytes'), files: sum('files') };
}
