import { performance } from 'node:perf_hooks';
import type { Pool } from 'pg';
import { statementOf, type Question } from './question.ts';
import { readAnswer, type Piece, type Row } from './read.ts';
import { jsonText, readTypeNames } from './value.ts';

/** Rows for the page: a chart shows no more. The command returns all. */
const mostRows = 1_000;
const longestValue = 1_000;

/**
 * Answers a question with its defaults, read only, limited in rows.
 * @throws StatementError, StatementTimeoutError and errors of Postgres
 */
export async function answerQuestion(
  pool: Pool,
  question: Question,
  timeoutMs: number,
): Promise<Piece> {
  const { signal } = new AbortController();
  const bounds = { timeoutMs, limit: mostRows, signal };
  const all: Row[] = [];
  let last: Piece = { columns: [], rows: [], isCut: false };
  for await (last of readAnswer(pool, statementOf(question, {}), bounds)) {
    for (const row of last.rows)
      all.push(row.map((value) => value?.slice(0, longestValue) ?? null));
  }
  return { ...last, rows: all };
}

/** The answer as JSON: columns with type names, values as `jsonText` writes them. */
export async function answerAsJson(pool: Pool, question: Question, timeoutMs: number) {
  const begin = performance.now();
  const { columns, rows, isCut } = await answerQuestion(pool, question, timeoutMs);
  const ms = Math.round(performance.now() - begin);
  const types = await readTypeNames(
    pool,
    columns.map(({ type }) => type),
  );
  return {
    name: question.name,
    columns: columns.map(({ name, type }) => ({ name, type: types.get(type) ?? '' })),
    rows: rows.map((row) => row.map((value, at) => cellOf(value, columns[at]?.type ?? 0))),
    is_cut: isCut,
    ms,
  };
}

/** A value as text, unless JSON has its type. */
function cellOf(value: string | null, type: number): string | number | boolean | null {
  if (value === null) return null;
  const text = jsonText(value, type);
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?[\d.]+(?:e[+-]?\d+)?$/iu.test(text)) return Number(text);
  return text.startsWith('"') ? (JSON.parse(text) as string) : value;
}
