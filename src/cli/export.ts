import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Option } from 'commander';
import type { OpenDatabase } from '../open-database.ts';
import { withLock } from '../embedded-postgres/lock.ts';
import { exportSource, type Export, type Outcome, type Source } from '../export/export.ts';
import { lockName, makeFolder, openFolder } from '../export/folder.ts';
import { manifestName } from '../export/manifest.ts';
import type { Choice, Format } from '../export/partition.ts';
import { readRelations } from '../export/relation.ts';
import { readSchemaVersion } from '../export/schema-version.ts';
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
import { chooseSources } from './export-sources.ts';
import { onDatabase } from './on-database.ts';
import { version } from './version.ts';

interface ExportOptions extends GlobalOptions {
  readonly to: string;
  readonly format: Format;
  readonly chain?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly demo?: boolean;
}

const formats: readonly Format[] = ['parquet', 'csv'];
const dayLength = 'yyyy-mm-dd'.length;
const now = () => performance.now();

/** `export`: tables, views and questions as files that other programs read. */
export function registerExport({ command, run }: Registry): void {
  command
    .argument(
      '[names...]',
      'tables and views of schema explorer, or questions (default: all tables)',
    )
    .requiredOption('--to <folder>', 'where to: a new folder, or that of an earlier export')
    .addOption(new Option('--format <format>', 'of the files').choices(formats).default('parquet'))
    .option('--chain <chain>', 'only this chain, by number or name (repeatable)', collect)
    .option('--since <day>', 'from this UTC day on, or that of so long ago, such as 7d')
    .option('--until <day>', 'up to this UTC day, or that of so long ago')
    .option('--demo', "export the demo's database")
    .addHelpText(
      'after',
      `
Files that are there and whose rows did not change are kept, so the same command again writes what is new,
and goes on where it was interrupted. --since and --until are of what goes by day; the rest is whole.

Examples:
  explorer-etl export --to lake
  explorer-etl export user_operations blocks --to lake --chain 10 --since 7d
  explorer-etl export operations_daily top-senders --to report --format csv
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
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const today = at.toISOString().slice(0, dayLength);
    const relations = await readRelations(database.pool, context.signal);
    const { sources, leftOut } = chooseSources(names, relations, choice, today);
    if (leftOut.length > 0) {
      context.stderr(
        `Left out: ${leftOut.join(', ')}. A superuser's rights are put off to read, and policies hide rows then: connect as the owner or as an analyst.\n`,
      );
    }
    const folder = resolve(context.cwd, options.to);
    await makeFolder(folder);
    return withLock(join(folder, lockName), () =>
      exportSources(context, options, { database, folder, choice, sources, leftOut }),
    );
  });
}

interface Work extends Pick<Export, 'folder' | 'choice'> {
  readonly database: OpenDatabase;
  readonly sources: readonly Source[];
  readonly leftOut: readonly string[];
}

async function exportSources(
  context: Context,
  { format, json, quiet }: ExportOptions,
  { database: { pool }, folder, choice, sources, leftOut }: Work,
): Promise<ExitCode> {
  const { signal } = context;
  const begun = now();
  const head = { format, program: version(), schema: await readSchemaVersion(pool, signal) };
  const manifest = await openFolder(folder, head, now);
  const outcomes: Outcome[] = [];
  try {
    for (const source of sources) {
      const work = { pool, folder, format, choice, manifest, signal };
      const outcome = await exportSource(work, source);
      outcomes.push(outcome);
      if (!quiet && !json) context.stderr(`${spell(outcome, choice)}\n`);
    }
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      context.stderr('Interrupted. What is written stays; the same command goes on from there.\n');
    }
    throw error;
  } finally {
    await manifest.save();
  }
  const seconds = (now() - begun) / 1000;
  const sum = sumOf(outcomes);
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/export/1',
      exit: exits.done,
      folder,
      manifest: manifestName,
      format,
      seconds,
      ...nestFiles(sum),
      relations: outcomes.map(({ name, layout, ...counts }) => ({
        name,
        layout,
        ...nestFiles(counts),
      })),
      left_out: [...leftOut],
    });
  } else {
    context.stdout(
      `${summary(sum, seconds)}\nWhat is in them, and as of when: ${join(folder, manifestName)}\n`,
    );
  }
  return exitCodes.done;
}

const number = new Intl.NumberFormat('en-US');

/** A line of 80 columns, but where all that can be said of files is. */
function spell({ name, layout, rows, bytes, ...files }: Outcome, { from, to }: Choice): string {
  const isBounded = layout !== 'day' && (from !== null || to !== null);
  return [
    `${name.padEnd(30)} ${number.format(rows).padStart(11)} rows ${megabytes(bytes).padStart(9)}  `,
    spellFiles(files),
    isBounded ? ' (all days)' : '',
  ].join('');
}

function spellFiles(files: Pick<Outcome, 'written' | 'kept' | 'removed'>): string {
  const parts = (['written', 'kept', 'removed'] as const).flatMap((what) =>
    files[what] === 0 ? [] : [`${number.format(files[what])} ${what}`],
  );
  return parts.length === 0 ? 'no file' : parts.join(', ');
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const summary = ({ rows, bytes, ...files }: Counts, seconds: number): string =>
  `${number.format(rows)} rows, ${megabytes(bytes)}, in ${seconds.toFixed(1)} s. Files: ${spellFiles(files)}.`;

type Counts = Omit<Outcome, 'name' | 'layout'>;

function sumOf(outcomes: readonly Outcome[]): Counts {
  const sum = (of: keyof Counts) => outcomes.reduce((all, one) => all + one[of], 0);
  return {
    rows: sum('rows'),
    bytes: sum('bytes'),
    written: sum('written'),
    kept: sum('kept'),
    removed: sum('removed'),
  };
}

const nestFiles = ({ rows, bytes, ...files }: Counts) => ({ rows, bytes, files });
