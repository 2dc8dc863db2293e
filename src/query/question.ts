import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Pool } from 'pg';
import { z } from 'zod';
import { packageFile } from '../package-file.ts';
import { StatementError } from './failure.ts';
import { readWhole, type Bounds, type Piece, type Statement } from './read.ts';
import { readSums } from './sums.ts';
import { isText, jsonText, readTypeNames } from './value.ts';

/** Parameters of questions, which are flags of `query`. */
export const parameterNames = ['chain', 'days', 'limit'] as const;
export type ParameterName = (typeof parameterNames)[number];

/** `:days` in a statement. */
export const questionParameter = z.strictObject({
  name: z.enum(parameterNames),
  /** Null: all. */
  default: z.number().nullable(),
  meaning: z.string(),
});

/** A chart of an answer: names of columns, that of the colours, and the unit of `y`. */
export const questionChart = z.strictObject({
  kind: z.enum(['line', 'bars', 'shares']),
  x: z.string(),
  y: z.string(),
  series: z.string().nullable(),
  unit: z.string().nullable(),
});

/** A named statement, from a file of that name. */
export interface Question {
  readonly name: string;
  /** Such as `fees`. */
  readonly topic: string;
  /** One sentence. */
  readonly question: string;
  readonly parameters: z.infer<typeof questionParameter>[];
  /** Null: a table only. */
  readonly chart: z.infer<typeof questionChart> | null;
  /** The whole file. psql can run it: `psql -v chain=null -v days=30 -f FILE`. */
  readonly text: string;
}

/** The questions in the package, by name. */
export function questions(): Question[] {
  const folder = packageFile('questions');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .map((file) => readQuestion(basename(file, '.sql'), readFileSync(join(folder, file), 'utf8')));
}

const chartLine = /^chart: (\w+)((?: [a-z]+=[\w%]+)+)$/u;
const topicLine = /^topic: (.+)$/u;
const parameterLine = /^:(\w+) = (\S+) +(.+)$/u;

/**
 * Reads the comment above a statement: the question, then lines such as `-- :days = 30  so many days back` (`all` is
 * null), `-- topic: fees` and `-- chart: bars x=day y=operations series=chain_id`.
 * @throws StatementError if `query` has no flag for a parameter
 */
export function readQuestion(name: string, text: string): Question {
  const comment = /^(?:--[^\n]*\n)*/u.exec(text)?.[0] ?? '';
  const lines = comment.split('\n').map((line) => line.replace(/^--\s*/u, ''));
  const parameters = lines.flatMap((line) => {
    const [, parameter, fallback = '', meaning = ''] = parameterLine.exec(line) ?? [];
    if (parameter === undefined) return [];
    const value = fallback === 'all' ? null : Number(fallback);
    return [{ name: knownName(parameter), default: value, meaning }];
  });
  const end = lines.findIndex((line) => line === '' || parameterLine.test(line));
  const topic = lines.flatMap((line) => topicLine.exec(line)?.[1] ?? [])[0] ?? 'other';
  const question = lines.slice(0, end).join(' ');
  return { name, topic, question, parameters, chart: chartOf(lines), text };
}

function chartOf(lines: readonly string[]): Question['chart'] {
  const [, kind, parts = ''] = lines.flatMap((line) => chartLine.exec(line) ?? []);
  const given = [...parts.matchAll(/([a-z]+)=([\w%]+)/gu)].map(([, name, of]) => [name, of]);
  const chart = { kind, series: null, unit: null, ...Object.fromEntries(given) };
  return questionChart.safeParse(chart).data ?? null;
}

function knownName(parameter: string): ParameterName {
  const name = parameterNames.find((known) => known === parameter);
  if (name !== undefined) return name;
  const flags = parameterNames.map((known) => `:${known}`).join(', ');
  throw new StatementError(`the comment names a parameter :${parameter}; there are ${flags}.`);
}

/** The statement with values and defaults. @throws StatementError for an unknown parameter */
export function statementOf(
  { name, parameters, text }: Question,
  given: Readonly<Partial<Record<ParameterName, number | undefined>>>,
): Statement {
  for (const other of parameterNames) {
    if (given[other] === undefined || parameters.some((one) => one.name === other)) continue;
    const flags = parameters.map((one) => `--${one.name}`).join(', ');
    const has = flags === '' ? 'it has no parameters' : `it has ${flags}`;
    throw new StatementError(`${name} does not take --${other}: ${has}.`);
  }
  const values = parameters.map((one) => (given[one.name] ?? one.default)?.toString() ?? null);
  // `::bigint` is a cast.
  const placed = text.replaceAll(/(?<!:):([a-z]+)/gu, (written, one) => {
    const place = parameters.findIndex((parameter) => parameter.name === one);
    return place === -1 ? written : `$${place + 1}`;
  });
  return { text: placed, values };
}

/** The page's limits: a chart shows no more rows, and its other queries wait. The command returns all. */
const pageBounds: Bounds = { timeoutMs: 4_500, limit: 1_000, signal: new AbortController().signal };

/** The page and assistants get so many characters of a value. */
const longest = 1_000;

/** A copy of the start of a long value: a slice would keep the whole value in memory. */
const cut = (value: string | null) =>
  value === null || value.length <= longest
    ? value
    : Buffer.from(value.slice(0, longest), 'utf16le').toString('utf16le');

/** Reads an answer into memory; long values are cut. @throws as `readAnswer` */
export const answerStatement = (
  pool: Pool,
  statement: Statement,
  bounds: Bounds = pageBounds,
): Promise<Piece> => readWhole(pool, statement, bounds, (row) => row.map(cut));

/** The answer as JSON: columns with type names, values as numbers and booleans if they are exact; long ones are cut. */
export async function answerAsJson(pool: Pool, statement: Statement, bounds: Bounds = pageBounds) {
  const begin = performance.now();
  const sums = await readSums(pool, statement.text, bounds);
  const { columns, rows, isCut } = await answerStatement(pool, statement, bounds);
  const ms = Math.round(performance.now() - begin);
  const oids = columns.map(({ type }) => type);
  const types = await readTypeNames(pool, oids);
  return {
    columns: columns.map(({ name, type }) => ({ name, type: types.get(type) ?? '' })),
    rows: rows.map((row) => row.map((value, at) => cellOf(value, oids[at] ?? 0))),
    is_cut: isCut,
    sums,
    ms,
  };
}

/** Texts, documents and arrays stay as they are: they may be cut, and no longer parse. */
function cellOf(value: string | null, type: number): string | number | boolean | null {
  if (value === null || isText(type)) return value;
  return JSON.parse(jsonText(value, type)) as string | number | boolean;
}
