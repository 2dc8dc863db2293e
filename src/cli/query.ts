import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from 'commander';
import type { Pool } from 'pg';
import { z } from 'zod';
import { nearest } from '../config/nearest.ts';
import { StatementError } from '../query/failure.ts';
import {
  type Question,
  questionParameter,
  questions,
  readQuestion,
  statementOf,
} from '../query/question.ts';
import { readAnswer, readWhole, type Column, type TextRow } from '../query/read.ts';
import { readSums, sumsDocument, type Sums } from '../query/sums.ts';
import { isNumber, isText, jsonText, readTypeNames } from '../query/value.ts';
import { parseDuration } from '../time.ts';
import { counted } from '../terminal/numbers.ts';
import { type Look, plainLook, tableLines, widthOf } from '../terminal/layout.ts';
import { count } from '../status/schema.ts';
import { openData } from './database.ts';
import { wholeNumber } from './options.ts';
import { exits, UsageError, type Context, type Registry } from './context.ts';
import { rowsOf } from '../db/transaction.ts';

/** `query --json`. `exit` comes after the rows, which are streamed; cut output is no valid JSON. */
export const queryOutput = z.strictObject({
  schema: z.literal('explorer-etl/query/1'),
  /** In order, with type names of Postgres; also for an empty result. */
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  /** Integers above 2^53 - 1 and numeric are strings; times are ISO 8601 in UTC; json is nested. */
  rows: z.array(z.record(z.string(), z.unknown())),
  row_count: count,
  /** Whether --limit cut off rows. */
  cut: z.boolean(),
  sums: sumsDocument,
});

export const queryListDocument = z.strictObject({
  schema: z.literal('explorer-etl/query-list/1'),
  questions: z.array(
    z.strictObject({
      /** The command's argument. */
      name: z.string(),
      question: z.string(),
      /** Flags without dashes; a default of null means all. */
      parameters: z.array(questionParameter),
    }),
  ),
});

/** `query NAME --sql --json`: the statement, with its parameters :chain, :days and :limit. */
export const querySqlDocument = z.strictObject({
  schema: z.literal('explorer-etl/query-sql/1'),
  sql: z.string(),
});

interface QueryOptions {
  readonly list?: boolean;
  readonly file?: string;
  readonly limit?: number;
  readonly timeout: number;
  readonly chain?: string;
  readonly days?: number;
  readonly sql?: boolean;
}

/** A table is for people; programs read --json. */
const tableRows = 1_000;
/** statement_timeout is an int32. */
const longestTimeoutMs = 2 ** 31 - 1;
const dayMs = 86_400_000;
/** A hundred years: further back than any chain, and no further than the dates of Postgres. */
const mostDays = 36_500;

export function register({ command, run, explain }: Registry): void {
  command
    .argument('[query]', 'a statement in SQL, or the name of a query')
    .option('--list', 'list the queries that have a name')
    .option('--file <file>', 'run the statement of a file; - is stdin')
    .option('--sql', 'print the statement of the query instead of running it')
    .option(
      '--limit <n>',
      `rows at most (default: ${tableRows} in a table, else all)`,
      wholeNumber(1),
    )
    .addOption(timeoutOption('60s'))
    .option('--chain <chain>', 'of a named query: only this chain, by number or name')
    .option('--days <n>', 'of a named query: days before the newest item, such as 7 or 2w', daysOf)
    .action(run(query));
  const examples = [
    'explorer-etl query --list',
    'explorer-etl query top-senders --chain 10 --days 7',
    'explorer-etl query "select * from explorer.freshness"',
    'explorer-etl query --file report.sql --json > report.json',
  ];
  explain(examples, 'The transaction is read only. Times are in UTC.');
}

/** `--timeout`. The default is longer than queries of a large database take, and stops endless ones. */
export function timeoutOption(fallback: string): Option {
  const what = 'how long the server may work on a statement, such as 5m; 0: no limit';
  const option = new Option('--timeout <time>', what);
  return option.argParser(timeoutOf).default(timeoutOf(fallback), fallback);
}

/** A number of days, or a duration of whole days. */
function daysOf(value: string): number {
  if (/^\d+$/u.test(value)) return wholeNumber(1, mostDays)(value);
  const days = (parseDuration(value) ?? 0) / dayMs;
  if (Number.isInteger(days) && days > 0 && days <= mostDays) return days;
  throw new InvalidArgumentError(
    `It is a number of whole days, such as 7, 7d or 2w, up to ${mostDays}.`,
  );
}

async function query(context: Context, options: QueryOptions, text?: string) {
  const { json } = context;
  const { limit, chain: flag, days, timeout: timeoutMs } = options;
  if (options.list === true) return list(context);
  const question = await questionOf(context, options, text);
  if (options.sql === true) {
    const { text: sql } = question;
    // A terminal gets no other line ends and no tabs.
    const shown = sql.replaceAll('\r\n', '\n').replaceAll('\t', '  ');
    return context.print(querySqlDocument, { sql }, shown);
  }
  const isLimited = question.parameters.some(({ name }) => name === 'limit');
  const most = isLimited ? null : (limit ?? (json ? null : tableRows));
  const chosen = { chain: flag === undefined ? [] : [flag] };
  await using data = await openData(context, 'reads', chosen);
  const { pool, chains } = data;
  // A statement of the user's own may mean other numbers.
  if (isNamed(question)) await demandChains(pool, chains);
  const given = { chain: chains[0], days, limit: isLimited ? limit : undefined };
  const statement = statementOf(question, given);
  const bounds = { timeoutMs, limit: most, signal: context.signal };
  const write = json ? writeDocument : writeTable;
  const sums = await readSums(pool, statement.text, bounds);
  const isCut = await write(context, [pool, statement, bounds], sums);
  const why =
    limit === undefined
      ? `a table shows ${tableRows}, --limit more, --json all.`
      : `--limit ${limit} cut them.`;
  if (isCut) context.warn(`There are more rows: ${why}`);
  return exits.done;
}

const isNamed = ({ name }: Question) => questions().some((one) => one.name === name);

/** @throws UsageError if the database has nothing of a chain */
async function demandChains(pool: Pool, chains: readonly number[]): Promise<void> {
  if (chains.length === 0) return;
  const rows = await rowsOf(
    pool,
    () => z.object({ id: z.string(), name: z.string() }),
    'select chain_id as id, name from explorer.chains order by chain_id',
  );
  const other = chains.find((chain) => rows.every(({ id }) => Number(id) !== chain));
  if (other === undefined) return;
  const stored = rows.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none';
  throw new UsageError(`--chain ${other}: this database has no such chain; stored: ${stored}.`);
}

function list({ commandLine, print }: Context) {
  const described = questions().map(({ name, question, parameters }) => ({
    name,
    question,
    parameters,
  }));
  const longest = Math.max(...described.map(({ name }) => name.length));
  const entries = described.map(({ name, question, parameters }) => {
    const flags = parameters.map((one) => `--${one.name} ${one.default ?? 'all'}`).join('  ');
    return `${name.padEnd(longest)}  ${question}\n${' '.repeat(longest)}  ${flags}\n`;
  });
  const text = `${entries.join('')}
Run one:  ${commandLine('explorer-etl query top-senders --days 7')}
Its SQL:  ${commandLine('explorer-etl query top-senders --sql')}
`;
  return print(queryListDocument, { questions: described }, text);
}

/** The statement: given, named, or from a file. @throws UsageError if there is none, or two */
export async function questionOf(
  context: Context,
  { file }: Pick<QueryOptions, 'file'>,
  given: string | undefined,
) {
  const command = 'explorer-etl query --list';
  if (given !== undefined && file !== undefined) {
    throw new UsageError('a statement and --file exclude each other: choose one.');
  }
  if (file !== undefined) return readQuestion(file, await readStatement(context, file));
  if (given === undefined) {
    throw new UsageError(
      'there is nothing to run: add a statement in quotes, --file, or the name of a query.',
      { command },
    );
  }
  if (!/^[\w-]+$/u.test(given)) return readQuestion('a statement', given);
  const all = questions();
  const question = all.find(({ name }) => name === given);
  if (question !== undefined) return question;
  const names = all.map(({ name }) => name);
  const near = nearest(given, names);
  const guess = near === null ? '' : ` Did you mean ${near}?`;
  throw new UsageError(`there is no query ${given}.${guess}`, { command });
}

async function readStatement({ cwd, signal }: Context, file: string): Promise<string> {
  if (file === '-') return textOf(addAbortSignal(signal, process.stdin));
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/** In ms; a bare number is in seconds. */
function timeoutOf(value: string): number {
  const ms = parseDuration(/^\d+$/u.test(value) ? `${value}s` : value);
  if (ms !== null && ms <= longestTimeoutMs && (ms >= 1 || ms === 0)) return Math.round(ms);
  throw new InvalidArgumentError(
    'It is a time such as 30s, 5m or 1h, of at most 24 days; 0: no limit.',
  );
}

/** Writes the answer to a statement on stdout. @returns whether the limit cut off rows */
type Writer = (
  context: Context,
  request: Parameters<typeof readAnswer>,
  sums: Sums,
) => Promise<boolean>;

/** Writes a piece at a time, and nothing before the first, so that an earlier failure has its own document. */
const writeDocument: Writer = async ({ stdout, drained, signal }, request, sums) => {
  let [written, cut, isBegun] = [0, false, false];
  for await (const { columns, rows, isCut } of readAnswer(...request)) {
    const keys = columns.map(({ name }) => JSON.stringify(name));
    const lines = rows.map((row) => {
      const members = columns.map(
        ({ type }, at) => `${keys[at]}:${jsonText(row[at] ?? null, type)}`,
      );
      return `${written++ === 0 ? '' : ','}\n    {${members.join(',')}}`;
    });
    stdout((isBegun ? '' : await documentHead(columns, request[0])) + lines.join(''));
    // As fast as stdout takes it; a signal ends the wait.
    await drained?.(signal);
    [cut, isBegun] = [isCut, true];
  }
  const rest = Object.entries({ row_count: written, cut, sums, exit: exits.done });
  const members = rest.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  stdout(`${written === 0 ? '' : '\n  '}],\n  ${members.join(',\n  ')}\n}\n`);
  return cut;
};

/** @throws StatementError if two columns have one name */
async function documentHead(columns: readonly Column[], pool: Pool): Promise<string> {
  const twice = columns.find(({ name }, at) => columns.findIndex((one) => one.name === name) < at);
  if (twice !== undefined) {
    throw new StatementError(
      `two columns are called "${twice.name}", and an object has one member of a name: rename one with "as".`,
    );
  }
  const oids = columns.map(({ type }) => type);
  const names = await readTypeNames(pool, oids);
  const described = columns.map(({ name, type }) =>
    JSON.stringify({ name, type: names.get(type) ?? String(type) }),
  );
  const schema = `"schema": "${queryOutput.shape.schema.value}"`;
  return `{\n  ${schema},\n  "columns": [${described.join(', ')}],\n  "rows": [`;
}

const writeTable: Writer = async ({ out, stdout, note }, request, sums) => {
  const { columns, rows, isCut } = await readWhole(...request);
  const { text, isShortened } = answerTable(out, columns, rows);
  stdout(text);
  const cut = isShortened ? '; long values are shortened, --json has them whole' : '';
  const state = sums === null ? '' : `; ${sums.sentence}`;
  note(`${counted(rows.length, 'row')}${cut}${state}`);
  return isCut;
};

/** Distinct from an empty text and the text NULL. */
const nullText = '<null>';

/** A table for people; each row is a block with a line for each column if a terminal is too narrow. */
function answerTable(look: Look, described: readonly Column[], rows: readonly TextRow[]) {
  const head = described.map(({ name }) => name);
  const cells = rows.map((row) => row.map((value) => value ?? nullText));
  const table = {
    head,
    rows: cells,
    aligns: described.map(({ type }) => (isNumber(type) ? 'right' : 'left')),
    flexible: described.flatMap(({ type }, at) => (isText(type) ? at : [])),
  } as const;
  const lines = tableLines(look, table);
  if (look.isTerminal && lines.some((line) => widthOf(line) > look.columns)) {
    return { text: cells.map(blockOf(head)).join(''), isShortened: false };
  }
  const whole = tableLines({ ...look, isTerminal: false }, table);
  const isShortened = lines.some((line, at) => line !== whole[at]);
  return { text: `${lines.join('\n')}\n`, isShortened };
}

const blockOf = (head: readonly string[]) => (cells: readonly string[], at: number) => {
  const lines = tableLines(plainLook, { rows: cells.map((cell, of) => [head[of] ?? '', cell]) });
  return `─ ${at + 1} ─\n${lines.join('\n')}\n`;
};
