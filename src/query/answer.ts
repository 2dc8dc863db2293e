import { performance } from 'node:perf_hooks';
import type { Pool } from 'pg';
import { statementOf, type Question } from './question.ts';
import { readAnswer, type Piece, type Row } from './read.ts';
import { isText, jsonText, readTypeNames } from './value.ts';

/** Rows for the page: a chart shows no more. The command returns all. */
const mostRows = 1_000;
const longestValue = 1_000;
/** Limit of a named query, in ms: the page's other queries wait for it. */
const timeoutMs = 4_500;

/**
 * Answers a question with its defaults, read only, limited in rows; long values are cut.
 * @throws StatementError, StatementTimeoutError and errors of Postgres
 */
export async function answerQuestion(pool: Pool, question: Question): Promise<Piece> {
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

/** The answer as JSON: columns with type names, values as numbers and booleans if they are exact. */
export async function answerAsJson(pool: Pool, question: Question) {
  const begin = performance.now();
  const { columns, rows, isCut } = await answerQuestion(pool, question);
  const ms = Math.round(performance.now() - begin);
  const oids = columns.map(({ type }) => type);
  const types = await readTypeNames(pool, oids);
  return {
    name: question.name,
    columns: columns.map(({ name, type }) => ({ name, type: types.get(type) ?? '' })),
    rows: rows.map((row) => row.map((value, at) => cellOf(value, oids[at] ?? 0))),
    is_cut: isCut,
    ms,
  };
}

/** Texts, documents and arrays stay as they are: they may be cut, and no longer parse. */
function cellOf(value: string | null, type: number): string | number | boolean | null {
  if (value === null || isText(type)) return value;
  return JSON.parse(jsonText(value, type)) as string | number | boolean;
}
