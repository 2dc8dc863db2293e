import { basename, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Option } from 'commander';
import type { Pool } from 'pg';
import { nearest } from '../config/nearest.ts';
import { exportSource, type Outcome, type Source } from '../export/export.ts';
import { fillFolder } from '../export/folder.ts';
import { readRelations, type Choice, type Format, type Relation } from '../export/relation.ts';
import { statementOf } from '../query/question.ts';
import { bytes, counted } from '../terminal/numbers.ts';
import { momentForms, parseMoment } from '../time.ts';
import { questionOf } from './asked-question.ts';
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
import { onDatabase } from './on-database.ts';

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
const dayMs = 86_400_000;

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

async function exportTo(
  context: Context,
  options: ExportOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const at = new Date();
  const settings = settingsOf(context, { ...options, chain: [] }, 'database');
  const choice: Choice = {
    chains: (options.chain ?? []).map((flag) => chainOf(flag, settings)),
    from: dayOf('since', options.since, at),
    to: dayOf('until', options.until, at),
  };
  if (choice.from !== null && choice.to !== null && choice.from > choice.to) {
    throw new UsageError(`--since ${choice.from} is after --until ${choice.to}.`);
  }
  const { query } = options;
  const queries = query === undefined ? [] : [await querySource(context, query, choice, at)];
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const { pool } = database;
    const all = await readRelations(pool, context.signal);
    const isQueryAlone = queries.length > 0 && names.length === 0;
    const relations = isQueryAlone ? [] : chooseRelations(names, all);
    const isReadable = ({ isGuarded }: Relation) => names.length > 0 || !isGuarded;
    const leftOut = relations.filter((one) => !isReadable(one)).map(({ name }) => name);
    if (leftOut.length > 0) {
      context.stderr(
        `Left out: ${leftOut.join(', ')}. A superuser's rights are put off to read, and policies hide rows then: connect as the owner or as an analyst.\n`,
      );
    }
    const sources = [...relations.filter(isReadable), ...queries];
    if (new Set(sources.map(({ name }) => name)).size < sources.length) {
      throw new UsageError('the query has the name of a table: give its file another name.');
    }
    return exportSources(context, options, { pool, choice, sources, leftOut });
  });
}

/** @throws UsageError where a flag means no day */
function dayOf(flag: 'since' | 'until', value: string | undefined, at: Date): string | null {
  if (value === undefined) return null;
  const time = parseMoment(value, at);
  if (time !== null) return time.slice(0, dayLength);
  throw new UsageError(`--${flag} ${value}: not ${momentForms}`);
}

/**
 * The relations of these names; all tables where none is named.
 *
 * @throws UsageError where nothing has such a name
 */
function chooseRelations(names: readonly string[], all: readonly Relation[]): readonly Relation[] {
  if (names.length === 0) return all.filter(({ isTable }) => isTable);
  return [...new Set(names)].map((name) => {
    const relation = all.find((one) => one.name === name);
    if (relation !== undefined) return relation;
    const near = nearest(
      name,
      all.map((one) => one.name),
    );
    const guess = near === null ? '' : ` Did you mean ${near}?`;
    throw new UsageError(
      `schema explorer has no table or view ${name}.${guess} docs/tables.md lists them; --query exports a question or a statement.`,
    );
  });
}

/**
 * The answer to a question, to the statement of a file that ends in .sql, or to a statement. A question takes
 * the chain, and counts its days from the first one.
 *
 * @throws UsageError and StatementError where it takes no such choice
 */
async function querySource(
  context: Context,
  asked: string,
  { chains: [chain, ...others], from, to }: Choice,
  at: Date,
): Promise<Source> {
  const isFile = asked.endsWith('.sql');
  const question = await questionOf(
    context,
    isFile ? { file: asked } : {},
    isFile ? undefined : asked,
  );
  if (others.length > 0) throw new UsageError('--query takes one --chain at most.');
  if (to !== null) throw new UsageError('--query takes no --until.');
  const statement = statementOf(question, {
    ...(chain !== undefined && { chain }),
    ...(from !== null && { days: Math.floor((at.getTime() - Date.parse(from)) / dayMs) }),
  });
  const name = isFile ? basename(asked, '.sql') : question.name;
  return { name: /^[\w-]+$/u.test(name) ? name : 'query', statement };
}

interface Work {
  readonly pool: Pool;
  readonly choice: Choice;
  readonly sources: readonly Source[];
  readonly leftOut: string[];
}

async function exportSources(
  context: Context,
  { to, overwrite = false, format, json, quiet }: ExportOptions,
  { pool, choice, sources, leftOut }: Work,
): Promise<ExitCode> {
  const { signal } = context;
  const folder = resolve(context.cwd, to);
  const begun = performance.now();
  const relations = await fillFolder(folder, overwrite, async (temporary) => {
    const made: Outcome[] = [];
    for (const source of sources) {
      const work = { pool, folder: temporary, format, choice, signal };
      const outcome = await exportSource(work, source);
      made.push(outcome);
      if (!quiet && !json) context.stderr(`${outcome.name.padEnd(30)} ${countsText(outcome)}\n`);
    }
    return made;
  });
  const seconds = (performance.now() - begun) / 1000;
  const sum = (of: keyof Counts) => relations.reduce((all, one) => all + one[of], 0);
  const sums: Counts = { rows: sum('rows'), bytes: sum('bytes'), files: sum('files') };
  if (json) {
    const schema = 'explorer-etl/export/1';
    const rest = { folder, format, seconds, ...sums, relations, left_out: leftOut };
    writeDocument(context, { schema, exit: exits.done, ...rest });
  } else context.stdout(`${countsText(sums)} in ${seconds.toFixed(1)} s: ${folder}\n`);
  return exitCodes.done;
}

type Counts = Pick<Outcome, 'rows' | 'bytes' | 'files'>;

const countsText = ({ rows, bytes: size, files }: Counts): string =>
  `${counted(rows, 'row')}, ${bytes(size)}, ${counted(files, 'file')}`;
