import { printableLines } from '../printable.ts';
import { csvHead, csvLines } from '../query/csv.ts';
import { StatementError } from '../query/failure.ts';
import type { Answer, Column, Row } from '../query/read.ts';
import { jsonText } from '../query/value.ts';
import type { Context } from './context.ts';
import { answerTable } from './query-table.ts';

export const formats = ['table', 'csv', 'json'] as const;
export type Format = (typeof formats)[number];

/** An answer on its way to stdout. */
export interface Output extends Answer {
  /** Writes what is left. */
  end(): Promise<void>;
}

/** Writes an answer to stdout as `format` says. */
export function openOutput(format: Format, context: Context, isQuiet: boolean): Output {
  if (format === 'csv') return csvOutput(context);
  return format === 'json' ? jsonOutput(context) : tableOutput(context, isQuiet);
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

/** An array with an object for each row, a line each. */
function jsonOutput(context: Context): Output {
  let keys: readonly (readonly [text: string, type: number])[] = [];
  let before = '[\n';
  return {
    begin(columns) {
      demandDistinct(columns);
      keys = columns.map(({ name, type }) => [JSON.stringify(name), type] as const);
    },
    async rows(rows) {
      const lines = rows.map((row) => {
        const members = keys.map(([key, type], at) => `${key}:${jsonText(row[at] ?? null, type)}`);
        return `  {${members.join(',')}}`;
      });
      if (lines.length === 0) return;
      context.stdout(`${before}${printableLines(lines.join(',\n'))}`);
      before = ',\n';
      await drained(context);
    },
    async end() {
      context.stdout(before === ',\n' ? '\n]\n' : '[]\n');
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
