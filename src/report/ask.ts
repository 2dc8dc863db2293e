import type { Pool } from 'pg';
import type { Table } from '../page/explore/facts.ts';
import { statementOf, type ParameterName, type Question } from '../query/question.ts';
import { readAnswer, type Column, type Row } from '../query/read.ts';
import { isNumber, readTypeNames } from '../query/value.ts';

/** Rows that a chart is drawn from: days of many chains or versions. A command has all of them. */
const mostRead = 1_000;
/** Characters of a value that are kept: nobody reads more of it in a table. */
const longestValue = 1_000;

/**
 * Asks a question, read only, for its first rows.
 *
 * @param timeoutMs how long the server may work on it
 * @throws StatementError, StatementTimeoutError and what Postgres throws
 */
export async function askQuestion(
  pool: Pool,
  question: Question,
  given: Readonly<Partial<Record<ParameterName, number>>>,
  timeoutMs: number,
): Promise<Table> {
  const begin = performance.now();
  const { signal } = new AbortController();
  const rows: Row[] = [];
  let columns: readonly Column[] = [];
  const end = await readAnswer(
    pool,
    statementOf(question, given),
    { timeoutMs, limit: mostRead, signal },
    {
      begin: (told) => void (columns = told),
      async rows(told) {
        for (const row of told)
          rows.push(row.map((value) => value?.slice(0, longestValue) ?? null));
      },
    },
  );
  const ms = performance.now() - begin;
  const names = await readTypeNames(
    pool,
    columns.map(({ type }) => type),
  );
  return {
    columns: columns.map(({ name, type }) => ({
      name,
      type: names.get(type) ?? '',
      isNumber: isNumber(type),
    })),
    rows,
    isCut: end === 'cut',
    ms,
  };
}
