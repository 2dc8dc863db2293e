import { InvalidArgumentError, Option } from 'commander';
import { questions, statementOf } from '../query/question.ts';
import { readAnswer } from '../query/read.ts';
import { parseDuration } from '../time.ts';
import { questionOf } from './asked-question.ts';
import { chainOf, wholeNumber } from './chosen-feeds.ts';
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
import { print, tell } from './print.ts';
import { settingsOf } from './setup.ts';
import { demandData, existing } from './existing.ts';
import { onDatabase } from './on-database.ts';
import { formats, openOutput, type Format } from './query-output.ts';

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
/** Longer than a question takes on a large copy, and short enough for one that never ends. */
const defaultTimeout = '60s';
/** statement_timeout is an int32. */
const longestTimeoutMs = 2 ** 31 - 1;
const dayMs = 86_400_000;

/** `query`: asks the database one thing, and changes nothing. */
export function registerQuery({ command, run }: Registry): void {
  command
    .argument('[question]', 'a statement in SQL, or the name of a question')
    .option('--list', 'list the questions')
    .option('--file <file>', 'ask the statement of a file; - is stdin')
    .option('--sql', 'print the statement of the question instead of asking it')
    .addOption(new Option('--format <format>', 'of the answer (default: table)').choices(formats))
    .option(
      '--limit <n>',
      `rows at most (default: of a table ${tableRows}, else all)`,
      wholeNumber(1),
    )
    .option(
      '--timeout <time>',
      'how long the server may work on it, such as 5m; 0 for ever',
      timeoutOf,
      timeoutOf(defaultTimeout),
    )
    .option('--chain <chain>', 'of a question: only this chain, by number or name')
    .option('--days <n>', 'of a question: so many days back, such as 7 or 2w', daysOf)
    .option('--demo', "ask the demo's database")
    .addHelpText(
      'after',
      `
The transaction is read only. Times are in UTC.

Examples:
  explorer-etl query --list
  explorer-etl query top-senders --chain 10 --days 7
  explorer-etl query "select * from explorer.freshness"
  explorer-etl query --file report.sql --format csv > report.csv
`,
    )
    // The default in ms means nothing to people.
    .configureHelp({ optionDescription: describeOption })
    .action((asked: string | undefined, options: QueryOptions, itself) =>
      run<QueryOptions>((context, all) => query(context, all, asked))(options, itself),
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
  asked: string | undefined,
): Promise<ExitCode> {
  const format = formOf(options);
  if (options.list === true) return list(context, format);
  const question = await questionOf(context, options, asked);
  if (options.sql === true) {
    if (format === 'document') {
      writeDocument(context, {
        schema: 'explorer-etl/query-sql/1',
        exit: exits.done,
        sql: question.text,
      });
    } else context.stdout(question.text);
    return exitCodes.done;
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
  const most = limit ?? (format === 'table' ? tableRows : null);
  const place = await existing(context, settings, options);
  return onDatabase(settings, place, 'reads', async (database) => {
    await demandData(database);
    const output = openOutput(format, context, { isQuiet: options.quiet, pool: database.pool });
    const { signal } = context;
    const bounds = { timeoutMs: options.timeout, limit: isLimited ? null : most, signal };
    const end = await readAnswer(database.pool, statement, bounds, output);
    await output.end(end);
    if (end === 'cut') {
      tell(context, `There are more rows: ${hintOf(options, format)}\n`);
    }
    return exitCodes.done;
  });
}

const hintOf = ({ limit }: QueryOptions, format: Form) =>
  limit === undefined && format === 'table'
    ? `a table shows ${tableRows}, --limit more, --format csv and --json all.`
    : `--limit ${limit} cut them.`;

/** What an answer becomes: text in a format, or the document of `--json`. */
type Form = Format | 'document';

function formOf({ format, json }: QueryOptions & GlobalOptions): Form {
  if (!json) return format ?? 'table';
  if (format === undefined) return 'document';
  throw new UsageError(`--json and --format ${format} exclude each other: choose one.`);
}

function list(context: Context, format: Form): ExitCode {
  const all = questions();
  const described = all.map(({ name, question, parameters }) => ({
    name,
    question,
    parameters: parameters.map((one) => ({
      name: one.name,
      default: one.fallback === null ? null : Number(one.fallback),
      meaning: one.meaning,
    })),
  }));
  if (format === 'document') {
    writeDocument(context, {
      schema: 'explorer-etl/query-list/1',
      exit: exits.done,
      questions: described,
    });
    return exitCodes.done;
  }
  const longest = Math.max(...all.map(({ name }) => name.length));
  for (const { name, question, parameters } of all) {
    const flags = parameters.map((one) => `--${one.name} ${one.fallback ?? 'all'}`);
    context.stdout(`${name.padEnd(longest)}  ${question}\n`);
    context.stdout(`${' '.repeat(longest)}  ${flags.join('  ')}\n`);
  }
  print(context, '\nAsk one:  explorer-etl query top-senders --days 7\n');
  print(context, 'Its SQL:  explorer-etl query top-senders --sql\n');
  return exitCodes.done;
}

/** In ms; a bare number counts seconds. */
function timeoutOf(value: string): number {
  const ms = parseDuration(/^\d+$/u.test(value) ? `${value}s` : value);
  if (ms !== null && ms <= longestTimeoutMs && (ms >= 1 || ms === 0)) return Math.round(ms);
  throw new InvalidArgumentError(
    'It is a time such as 30s, 5m or 1h, of at most 24 days; 0 for ever.',
  );
}
