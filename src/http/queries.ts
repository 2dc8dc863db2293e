import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import type { Database } from '../db/transaction.ts';
import { questions, statementOf, type Question } from '../query/question.ts';
import { readAnswer, type Piece, type Row } from '../query/read.ts';
import { isText, jsonText, readTypeNames } from '../query/value.ts';
import type { QueriesDocument, QueryDocument } from '../status/endpoints.ts';

/** Rows for the page: a chart shows no more. The command returns all. */
const mostRows = 1_000;
const longestValue = 1_000;
/** Limit of a named query, in ms: the page's other queries wait for it. */
const timeoutMs = 4_500;

/** First in the list: it shows stored data at a glance. */
const firstQuery = 'operations-daily';
const rank = ({ name }: { readonly name: string }): number => Number(name !== firstQuery);

/** The named queries, and the documentation of every table, view and column of schema `explorer`. */
export async function readQueries(db: Database): Promise<QueriesDocument> {
  const queries = questions().map(({ name, topic, question: title, text, chart }) => {
    return { name, topic, title, sql: text, chart };
  });
  const { rows } = await db.execute<QueriesDocument['dictionary'][number]>(sql`
    with described as materialized (select * from explorer.dictionary)
    select 'explorer.' || table_name as relation, coalesce(described.description, '') as comment, columns
    from described
    join (
      select table_name, json_agg(json_build_object(
        'name', column_name, 'type', type, 'comment', coalesce(description, '')
      ) order by position) as columns
      from described where column_name is not null
      group by table_name
    ) as own using (table_name)
    where column_name is null
    order by table_name
  `);
  return { queries: queries.toSorted((a, b) => rank(a) - rank(b)), dictionary: rows };
}

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
export async function answerAsJson(pool: Pool, question: Question): Promise<QueryDocument> {
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
function cellOf(value: string | null, type: number): QueryDocument['rows'][number][number] {
  if (value === null || isText(type)) return value;
  return JSON.parse(jsonText(value, type)) as string | number | boolean;
}
