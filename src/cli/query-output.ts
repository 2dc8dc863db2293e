import type { Pool } from 'pg';
import { printableLines } from '../printable.ts';
import { csvHead, csvLines } from '../query/csv.ts';
import { StatementError } from '../query/failure.ts';
import type { Answer, Column, Row } from '../query/read.ts';
import { readTypeNames } from '../query/type-names.ts';
import { jsonText } from '../query/value.ts';
import type { Context } from './context.ts';
import { exits } from './exits.ts';
import { answerTable } from './query-table.ts';

export const formats = ['table', 'csv', 'json'] as const;
export type Format = (typeof formats)[number];

/** An answer on its way to stdout. */
export interface Output extends Answer {
  /** Writes what is left, and where it is told whether rows were left out. */
  end(end: 'whole' | 'cut'): Promise<void>;
}

/** Writes an answer to stdout as `form` says: a format, or the document of `--json`. */
export function openOutput(
  form: Format | 'document',
  context: Context,
  { isQuiet, pool }: { readonly isQuiet: boolean; readonly pool: Pool },
): Output {
  if (form === 'document') return documentOutput(context, pool);
  if (form === 'csv') return csvOutput(context);
  return form === 'json' ? jsonOutput(context) : tableOutput(context, isQuiet);
}

/** What was written is taken, or a signal ends the wait. */
async function drained({ drained: taken, signal }: Context): Promise<void> {
  if (taken === undefined) return;
  signal.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([taken(), ended.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function csvOutput(context: Context): Output {
  let columns: readonly Column[] = [];
  const write = (text: string) =>
    // What a page said may act on a terminal; in a file it is what it is.
    context.stdout(context.out.isTerminal ? printableLines(text) : text);
  return {
    begin(all) {
      columns = all;
      write(csvHead(all));
    },
    async rows(rows) {
      write(csvLines(columns, rows));
      await drained(context);
    },
    end: () => drained(context),
  };
}

/** Rows as objects of JSON, a line each. */
interface JsonRows {
  begin(columns: readonly Column[]): void;
  /** Lines with commas between them, also between those of two calls. */
  lines(rows: readonly Row[]): string;
  readonly count: number;
}

function jsonRows(indent: string): JsonRows {
  let keys: readonly (readonly [text: string, type: number])[] = [];
  let count = 0;
  return {
    begin(columns) {
      demandDistinct(columns);
      keys = columns.map(({ name, type }) => [JSON.stringify(name), type] as const);
    },
    lines(rows) {
      const before = count === 0 ? '' : ',\n';
      count += rows.length;
      const lines = rows.map((row) => {
        const members = keys.map(([key, type], at) => `${key}:${jsonText(row[at] ?? null, type)}`);
        return `${indent}{${members.join(',')}}`;
      });
      return `${before}${printableLines(lines.join(',\n'))}`;
    },
    get count() {
      return count;
    },
  };
}

/** An array with an object for each row, a line each. */
function jsonOutput(context: Context): Output {
  const json = jsonRows('  ');
  return {
    begin: (columns) => json.begin(columns),
    async rows(rows) {
      if (rows.length === 0) return;
      const head = json.count === 0 ? '[\n' : '';
      context.stdout(`${head}${json.lines(rows)}`);
      await drained(context);
    },
    async end() {
      context.stdout(json.count === 0 ? '[]\n' : '\n]\n');
      await drained(context);
    },
  };
}

/**
 * The document `query`, written while rows are read: how it ended is known, and told, at its end. Nothing is
 * written before the first rows are there, so that what fails by then has a document of its own.
 */
function documentOutput(context: Context, pool: Pool): Output {
  const json = jsonRows('    ');
  let columns: readonly Column[] = [];
  const head = async (): Promise<string> => {
    const names = await readTypeNames(
      pool,
      columns.map(({ type }) => type),
    );
    const told = columns.map(({ name, type }) =>
      JSON.stringify({ name, type: names.get(type) ?? String(type) }),
    );
    const schema = '"schema": "explorer-etl/query/1"';
    return printableLines(`{\n  ${schema},\n  "columns": [${told.join(', ')}],\n  "rows": [`);
  };
  return {
    begin(all) {
      json.begin(all);
      columns = all;
    },
    async rows(rows) {
      if (rows.length === 0) return;
      context.stdout(`${json.count === 0 ? `${await head()}\n` : ''}${json.lines(rows)}`);
      await drained(context);
    },
    async end(end) {
      const rest = { row_count: json.count, cut: end === 'cut', exit: exits.done };
      const members = Object.entries(rest).map(
        ([name, value]) => `"${name}": ${JSON.stringify(value)}`,
      );
      context.stdout(
        `${json.count === 0 ? await head() : '\n  '}],\n  ${members.join(',\n  ')}\n}\n`,
      );
      await drained(context);
    },
  };
}

function demandDistinct(columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  throw new StatementError(
    `two columns are called "${twice}", and an object has one member of a name: rename one with "as".`,
  );
}

function tableOutput(context: Context, isQuiet: boolean): Output {
  let columns: readonly Column[] = [];
  const all: Row[] = [];
  return {
    begin: (told) => void (columns = told),
    async rows(rows) {
      for (const row of rows) all.push(row);
    },
    async end() {
      const { text, shape } = answerTable(
        columns,
        all,
        context.out.isTerminal ? context.out.columns : null,
      );
      if (all.length > 0 || shape !== 'records') context.stdout(`${text}\n`);
      await drained(context);
      if (isQuiet) return;
      const count = `${all.length} ${all.length === 1 ? 'row' : 'rows'}`;
      const note =
        shape === 'shortened' ? '; long values are shortened, --format csv has them whole' : '';
      context.stderr(`${count}${note}\n`);
    },
  };
}
