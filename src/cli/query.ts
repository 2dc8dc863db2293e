import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { nearest } from '../config/nearest.ts';
import { questions, readQuestion, statementOf, type Question } from '../query/question.ts';
import { readAnswer } from '../query/read.ts';
import { parseDuration } from '../time.ts';
import { chainOf, wholeNumber } from './chosen-feeds.ts';
import { addHelp, commandLineOf, type CommandLine } from './command-line.ts';
import {
  exitCodes,
  UsageError,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { demandData, existing } from './existing.ts';
import { onDatabase } from './on-database.ts';
import { printAnswer } from './print.ts';
import { formats, openOutput, type Form, type Format } from './query-output.ts';
import { settingsOf } from './setup.ts';

/** `query --list --json`. */
export const queryListDocument = z.strictObject({
  schema: z.literal('explorer-etl/query-list/1'),
  questions: z.array(
    z.strictObject({
      /** As the command takes it. */
      name: z.string(),
      question: z.string(),
      /** Its flags, without dashes; a default of null means all. */
      parameters: z.array(
        z.strictObject({ name: z.string(), default: z.number().nullable(), meaning: z.string() }),
      ),
    }),
  ),
});

/** `query NAME --sql --json`: the statement, with :chain, :days and :limit if it has them. */
export const querySqlDocument = z.strictObject({
  schema: z.literal('explorer-etl/query-sql/1'),
  sql: z.string(),
});

interface QueryOptions {
  readonly list?: boolean;
  readonly file?: string;
  readonly format?: Format;
  readonly limit?: number;
  readonly timeout: number;
  readonly chain?: string;
  readonly days?: number;
  readonly sql?: boolean;
  readonly demo?: boolean;
}

/** A table is for reading; more rows are for programs. */
const tableRows = 1_000;
/** Longer than a query takes on a large database, and short enough for one that never ends. */
const defaultTimeout = '60s';
/** statement_timeout is an int32. */
const longestTimeoutMs = 2 ** 31 - 1;
const dayMs = 86_400_000;

/** `query`: runs one statement, and changes nothing. */
export function registerQuery({ command, run }: Registry): void {
  command
    .argument('[query]', 'a statement in SQL, or the name of a query')
    .option('--list', 'list the queries that have a name')
    .option('--file <file>', 'run the statement of a file; - is stdin')
    .option('--sql', 'print the statement of the query instead of running it')
    .addOption(new Option('--format <format>', 'of the answer (default: table)').choices(formats))
    .option(
      '--limit <n>',
      `rows at most (default: ${tableRows} in a table, else all)`,
      wholeNumber(1),
    )
    .option(
      '--timeout <time>',
      'how long the server may work on it, such as 5m; 0: no limit',
      timeoutOf,
      timeoutOf(defaultTimeout),
    )
    .option('--chain <chain>', 'of a named query: only this chain, by number or name')
    .option('--days <n>', 'of a named query: so many days back, such as 7 or 2w', daysOf)
    .option('--demo', "query the demo's database")
    // People cannot read the default in ms.
    .configureHelp({ optionDescription: describeOption });
  addHelp(
    command,
    (line) => `
The transaction is read only. Times are in UTC.

Examples:
  ${line('explorer-etl query --list')}
  ${line('explorer-etl query top-senders --chain 10 --days 7')}
  ${line('explorer-etl query "select * from explorer.freshness"')}
  ${line('explorer-etl query --file report.sql --format csv > report.csv')}`,
  ).action((given: string | undefined, options: QueryOptions, itself) =>
    run<QueryOptions>((context, all) => query(context, all, given))(options, itself),
  );
}

/** A number of days, or a duration of whole ones. */
function daysOf(value: string): number {
  if (/^\d+$/u.test(value)) return wholeNumber(1)(value);
  const days = (parseDuration(value) ?? 0) / dayMs;
  if (Number.isInteger(days) && days > 0) return days;
  throw new InvalidArgumentError('It is a number of whole days, such as 7, 7d or 2w.');
}

const describeOption = ({ description, long }: Option): string =>
  long === '--timeout' ? `${description} (default: ${defaultTimeout})` : description;

async function query(
  context: Context,
  options: QueryOptions & GlobalOptions,
  given: string | undefined,
): Promise<ExitCode> {
  const form = formOf(options);
  if (options.list === true) return list(context, options);
  const question = await questionOf(context, options, given);
  if (options.sql === true) {
    const { text } = question;
    const fields = { sql: text };
    return printAnswer(context, options, { schema: querySqlDocument, fields, text: () => text });
  }
  const { limit, chain: flag, days } = options;
  const settings = settingsOf(context, { ...options, chain: [] }, 'database');
  const chain = flag === undefined ? undefined : chainOf(flag, settings);
  const isLimited = question.parameters.some(({ name }) => name === 'limit');
  const statement = statementOf(question, {
    ...(chain !== undefined && { chain }),
    ...(days !== undefined && { days }),
    ...(isLimited && limit !== undefined && { limit }),
  });
  const most = limit ?? (form === 'table' ? tableRows : null);
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const output = openOutput(form, context, { isQuiet: options.quiet, pool: database.pool });
    const { signal } = context;
    const bounds = { timeoutMs: options.timeout, limit: isLimited ? null : most, signal };
    const end = await readAnswer(database.pool, statement, bounds, output);
    await output.end(end);
    if (end === 'cut') context.stderr(`There are more rows: ${hintOf(options, form)}\n`);
    return exitCodes.done;
  });
}

const hintOf = ({ limit }: QueryOptions, form: Form) =>
  limit === undefined && form === 'table'
    ? `a table shows ${tableRows}, --limit more, --format csv and --json all.`
    : `--limit ${limit} cut them.`;

function formOf({ format, json }: QueryOptions & GlobalOptions): Form {
  if (!json) return format ?? 'table';
  if (format === undefined) return 'document';
  throw new UsageError(`--json and --format ${format} exclude each other: choose one.`);
}

function list(context: Context, options: GlobalOptions): ExitCode {
  const all = questions();
  return printAnswer(context, options, {
    schema: queryListDocument,
    fields: {
      questions: all.map(({ name, question, parameters }) => ({
        name,
        question,
        parameters: parameters.map((one) => ({
          name: one.name,
          default: one.fallback === null ? null : Number(one.fallback),
          meaning: one.meaning,
        })),
      })),
    },
    text: () => listText(all, commandLineOf(context)),
  });
}

function listText(all: readonly Question[], line: CommandLine): string {
  const longest = Math.max(...all.map(({ name }) => name.length));
  const entries = all.map(({ name, question, parameters }) => {
    const flags = parameters.map((one) => `--${one.name} ${one.fallback ?? 'all'}`);
    return `${name.padEnd(longest)}  ${question}\n${' '.repeat(longest)}  ${flags.join('  ')}\n`;
  });
  return `${entries.join('')}
Run one:  ${line('explorer-etl query top-senders --days 7')}
Its SQL:  ${line('explorer-etl query top-senders --sql')}
`;
}

/**
 * What is to be run: a statement, the query of that name, or the statement of a file.
 *
 * @throws UsageError if there is none, or two
 */
export async function questionOf(
  context: Context,
  { file }: Pick<QueryOptions, 'file'>,
  given: string | undefined,
): Promise<Question> {
  const listing = 'explorer-etl query --list';
  if (given !== undefined && file !== undefined) {
    throw new UsageError('a statement and --file exclude each other: choose one.');
  }
  if (file !== undefined) return readQuestion(file, await readStatement(context, file));
  if (given === undefined) {
    throw new UsageError(
      'there is nothing to run: add a statement in quotes, --file, or the name of a query.',
      listing,
    );
  }
  if (!/^[\w-]+$/u.test(given)) return readQuestion('a statement', given);
  const all = questions();
  const question = all.find(({ name }) => name === given);
  if (question !== undefined) return question;
  const near = nearest(
    given,
    all.map(({ name }) => name),
  );
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  throw new UsageError(`there is no query ${given}.${guess}`, listing);
}

async function readStatement({ cwd }: Context, file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin);
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/** In ms; a bare number counts seconds. */
function timeoutOf(value: string): number {
  const ms = parseDuration(/^\d+$/u.test(value) ? `${value}s` : value);
  if (ms !== null && ms <= longestTimeoutMs && (ms >= 1 || ms === 0)) return Math.round(ms);
  throw new InvalidArgumentError(
    'It is a time such as 30s, 5m or 1h, of at most 24 days; 0: no limit.',
  );
}
