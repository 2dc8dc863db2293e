import { Hono, type Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { codeOfFailure, describeDatabaseError, isCancelled } from '../db/failure.ts';
import { execute, type Database } from '../db/transaction.ts';
import { answerAsJson, answerStatement, questions, statementOf } from '../query/question.ts';
import { StatementTimeoutError } from '../query/failure.ts';
import { csvHead, csvLines } from '../query/value.ts';
import { readCoverage, readStrips } from '../status/coverage.ts';
import type { QueriesDocument } from '../status/endpoints.ts';
import { readRuns, readThroughput } from '../status/ledger.ts';
import type { StatusDocument } from '../status/schema.ts';
import { traceTerm } from '../status/trace.ts';
import { BusyError, type Reader } from './reader.ts';
import { z } from 'zod';

interface ApiSources {
  readonly reader: Pick<Reader, 'inTurn' | 'known'>;
  readonly status: () => Promise<StatusDocument>;
  readonly commandLine: (command: string) => string;
}

const most = { cells: 1_000, hours: 168, position: Number.MAX_SAFE_INTEGER };

/** The JSON endpoints of `status/endpoints.ts`. */
export function createApi({ reader, status, commandLine }: ApiSources): Hono {
  const app = new Hono();
  const asTyped = (key: string, value: unknown) =>
    key === 'command' && typeof value === 'string' ? commandLine(value) : value;
  const send = (context: Context, document: object) =>
    context.body(JSON.stringify(document, asTyped), 200, { 'content-type': 'application/json' });
  const serve = (path: string, read: (db: Database, context: Context) => Promise<object>) =>
    app.get(path, async (context) => send(context, await reader.inTurn((db) => read(db, context))));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return context.json({ error: error.message }, error.status);
    return context.json({ error: sentenceOf(error) }, isTooSlow(error) ? 504 : 503);
  });
  app.get('/status.json', async (context) => {
    reader.known();
    return send(context, await status());
  });
  serve('/strips.json', async (db) => {
    const { feeds } = await status();
    const shares = feeds.flatMap(({ feed, verified: { share } }) =>
      share === null ? [] : [[feed, share] as const],
    );
    return readStrips(db, new Map(shares));
  });
  serve('/coverage.json', async (db, context) => {
    const document = await readCoverage(db, {
      feed: context.req.query('feed') ?? '',
      from: wholeNumber(context, 'from', most.position),
      to: wholeNumber(context, 'to', most.position),
      cells: Math.max(1, wholeNumber(context, 'cells', most.cells) ?? 240),
    });
    if (document === null)
      throw new HTTPException(404, { message: 'There is no feed of this name.' });
    return document;
  });
  serve('/throughput.json', (db, context) => readThroughput(db, recentOf(context)));
  serve('/runs.json', (db, context) => readRuns(db, recentOf(context)));
  serve('/trace.json', (db, context) => traceTerm(db, context.req.query('term') ?? ''));
  serve('/queries.json', readQueries);
  serve('/query.json', async (db, context) => {
    const question = questionOf(context);
    const answer = await answerAsJson(db.$client, statementOf(question, {}));
    return { name: question.name, ...answer };
  });
  app.get('/query.csv', async (context) => {
    const question = questionOf(context);
    const { columns, rows } = await reader.inTurn((db) =>
      answerStatement(db.$client, statementOf(question, {})),
    );
    const csv = csvHead(columns, 'spreadsheet') + csvLines(columns, rows, 'spreadsheet');
    return context.body(csv, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${question.name}.csv"`,
    });
  });
  return app;
}

/** The named queries, and the documentation of every table, view and column of schema `explorer`. */
async function readQueries(db: Database): Promise<QueriesDocument> {
  const rows = await execute(db).rows(() =>
    z.object({
      relation: z.string(),
      // Null: the row is of the relation itself.
      name: z.string().nullable(),
      type: z.string().nullable(),
      comment: z.string(),
    }),
  )`
    select 'explorer.' || table_name as relation, column_name as name, type,
           coalesce(description, '') as comment
    from explorer.dictionary order by table_name, position
  `;
  const relations = Map.groupBy(rows, ({ relation }) => relation);
  return {
    queries: questions().map(({ name, topic, question: title, text, chart }) => {
      return { name, topic, title, sql: text, chart };
    }),
    dictionary: [...relations].map(([relation, [own, ...columns]]) => ({
      relation,
      comment: own?.comment ?? '',
      columns: columns.map(({ name, type, comment }) => {
        return { name: name ?? '', type: type ?? '', comment };
      }),
    })),
  };
}

const isTooSlow = (error: unknown): boolean =>
  error instanceof StatementTimeoutError || isCancelled(error);

function sentenceOf(error: Error): string {
  if (error instanceof BusyError) return error.message;
  if (isTooSlow(error))
    return 'It took longer than the page allows. A terminal gives it more time.';
  // SQLSTATE of a database without tables.
  if (['42P01', '3F000'].includes(codeOfFailure(error) ?? ''))
    return 'Nothing was read into this database yet.';
  return describeDatabaseError(error);
}

/** A whole number from 0; refuses other values. */
function wholeNumber(context: Context, name: string, atMost: number): number | null {
  const text = context.req.query(name);
  if (text === undefined || text === '') return null;
  if (/^\d{1,16}$/u.test(text) && Number(text) <= atMost) return Number(text);
  throw new HTTPException(400, { message: `${name} is a whole number from 0 to ${atMost}.` });
}

const recentOf = (context: Context) => ({
  hours: Math.max(1, wholeNumber(context, 'hours', most.hours) ?? 24),
  feed: context.req.query('feed')?.replaceAll('\0', '') ?? null,
});

function questionOf(context: Context) {
  const found = questions().find(({ name }) => name === context.req.query('name'));
  if (found === undefined)
    throw new HTTPException(404, { message: 'There is no query of this name.' });
  return found;
}
