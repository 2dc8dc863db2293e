import Table from 'cli-table3';
import type { Pool } from 'pg';
import { z } from 'zod';
import { printable, printableLines } from '../printable.ts';
import { counted } from '../terminal/numbers.ts';
import { csvHead, csvLines } from '../query/csv.ts';
import { StatementError } from '../query/failure.ts';
import type { Answer, Column, Row } from '../query/read.ts';
import { isNumber, isText, jsonText, readTypeNames } from '../query/value.ts';
import { exits, type Context } from './context.ts';

/**
 * `query --json`. Rows are written while they are read, so `exit` comes last here: only then it is known.
 * Output that ends early is no JSON, and cannot be mistaken for the whole.
 */
export const queryDocument = z.strictObject({
  schema: z.literal('explorer-etl/query/1'),
  /** In order, with the type's name in Postgres; also if there are no rows. */
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  /**
   * A member for each column. Integers up to 2^53 - 1 are numbers; larger ones and numeric are strings with all
   * digits; times are ISO 8601 in UTC; json is nested.
   */
  rows: z.array(z.record(z.string(), z.unknown())),
  row_count: z.int().min(0),
  /** Whether --limit left out more rows. */
  cut: z.boolean(),
});

export const formats = ['table', 'csv'] as const;
export type Format = (typeof formats)[number];
/** What an answer becomes: text in a format, or the document of `--json`. */
export type Form = Format | 'document';

/** An answer on its way to stdout. */
export interface Output extends Answer {
  /** Writes what is left, and whether rows were left out. */
  end(end: 'whole' | 'cut'): Promise<void>;
}

/** Writes an answer to stdout in its form. */
export function openOutput(
  form: Form,
  context: Context,
  { isQuiet, pool }: { readonly isQuiet: boolean; readonly pool: Pool },
): Output {
  if (form === 'document') return documentOutput(context, pool);
  return form === 'csv' ? csvOutput(context) : tableOutput(context, isQuiet);
}

/** Waits until what was written is taken; a signal ends the wait. */
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
    // What a page said may act on a terminal; a file keeps it as it is.
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

/** Writes nothing before the first rows are there, so that a failure by then has a document of its own. */
function documentOutput(context: Context, pool: Pool): Output {
  let columns: readonly Column[] = [];
  let keys: readonly string[] = [];
  let count = 0;
  const head = async (): Promise<string> => {
    const names = await readTypeNames(
      pool,
      columns.map(({ type }) => type),
    );
    const described = columns.map(({ name, type }) =>
      JSON.stringify({ name, type: names.get(type) ?? String(type) }),
    );
    const schema = '"schema": "explorer-etl/query/1"';
    return printableLines(`{\n  ${schema},\n  "columns": [${described.join(', ')}],\n  "rows": [`);
  };
  const lineOf = (row: Row) =>
    `    {${columns.map(({ type }, at) => `${keys[at]}:${jsonText(row[at] ?? null, type)}`).join(',')}}`;
  return {
    begin(all) {
      demandDistinct(all);
      columns = all;
      keys = all.map(({ name }) => JSON.stringify(name));
    },
    async rows(rows) {
      if (rows.length === 0) return;
      const before = count === 0 ? `${await head()}\n` : ',\n';
      count += rows.length;
      context.stdout(`${before}${printableLines(rows.map(lineOf).join(',\n'))}`);
      await drained(context);
    },
    async end(end) {
      const rest = { row_count: count, cut: end === 'cut', exit: exits.done };
      const members = Object.entries(rest).map(
        ([name, value]) => `"${name}": ${JSON.stringify(value)}`,
      );
      const before = count === 0 ? await head() : '\n  ';
      context.stdout(`${before}],\n  ${members.join(',\n  ')}\n}\n`);
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
  const read: Row[] = [];
  return {
    begin: (all) => void (columns = all),
    async rows(rows) {
      for (const row of rows) read.push(row);
    },
    async end() {
      const { text, shape } = answerTable(
        columns,
        read,
        context.out.isTerminal ? context.out.columns : null,
      );
      if (read.length > 0 || shape !== 'records') context.stdout(`${text}\n`);
      await drained(context);
      if (isQuiet) return;
      const count = counted(read.length, 'row');
      const note =
        shape === 'shortened' ? '; long values are shortened, --format csv has them whole' : '';
      context.stderr(`${count}${note}\n`);
    },
  };
}

/** Unlike an empty text, and unlike the text NULL. */
const nullText = '<null>';
/** What is left of a value that is cut: enough to distinguish two hashes. In characters, without blanks. */
const leastWidth = 13;
/** A blank on either side. */
const padding = 2;

/** How an answer was made to fit. */
interface ShownTable {
  readonly text: string;
  /** `shortened`: values are cut; `records`: each row is a block of lines, whole. */
  readonly shape: 'whole' | 'shortened' | 'records';
}

/**
 * An answer for people. If it is wider than `width`, long values are shortened; if that is not enough, each
 * row becomes a block with a line for each column.
 *
 * @param width in characters; null: it does not matter
 */
function answerTable(
  columns: readonly Column[],
  rows: readonly Row[],
  width: number | null,
): ShownTable {
  const head = columns.map(({ name }) => printable(name));
  const cells = rows.map((row) =>
    row.map((value) => (value === null ? nullText : printable(value))),
  );
  const aligns = columns.map(({ type }) => (isNumber(type) ? 'right' : 'left'));
  const whole = table(head, cells, aligns);
  if (width === null || columns.length === 0 || widthOf(whole) <= width) {
    return { text: whole, shape: 'whole' };
  }
  const widths = narrowed(columnWidths(whole), columns, width);
  if (widths === null) return { text: records(head, cells), shape: 'records' };
  const short = cells.map((row) =>
    row.map((cell, at) => shorten(cell, (widths[at] ?? 0) - padding)),
  );
  return { text: table(head, short, aligns, widths), shape: 'shortened' };
}

/**
 * A table without colours. Only the head has a line below it, so that a screen shows twice as many rows.
 *
 * @param widths with a blank on either side; as wide as the longest value if absent
 */
function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  aligns: readonly ('left' | 'right')[],
  widths: readonly number[] = [],
): string {
  const lines = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colAligns: [...aligns],
    colWidths: [...widths],
  });
  for (const row of rows) lines.push([...row]);
  return lines
    .toString()
    .split('\n')
    .filter((line, at) => at === 2 || !line.startsWith('├'))
    .join('\n');
}

const topOf = (text: string): string => text.slice(0, text.indexOf('\n'));
const widthOf = (text: string): number => topOf(text).length;
const columnWidths = (text: string): number[] =>
  topOf(text)
    .slice(1, -1)
    .split('┬')
    .map((line) => line.length);

/** Takes from the widest columns of text until all fit; null if that is not enough. */
function narrowed(
  widths: readonly number[],
  columns: readonly Column[],
  width: number,
): number[] | null {
  const narrow = [...widths];
  let excess = narrow.reduce((sum, one) => sum + one + 1, 1) - width;
  for (; excess > 0; excess -= 1) {
    const lengths = narrow.map((one, at) => (isText(columns[at]?.type ?? 0) ? one : 0));
    const length = Math.max(...lengths);
    if (length - padding <= leastWidth) return null;
    narrow[lengths.indexOf(length)] = length - 1;
  }
  return narrow;
}

/** Both ends of a hash, the beginning of all else. */
function shorten(cell: string, width: number): string {
  const characters = Array.from(cell);
  if (characters.length <= width) return cell;
  const isHash = /^0x[0-9a-f]+$/u.test(cell);
  const tail = isHash ? Math.floor((width - 1) / 2) - 1 : 0;
  const head = characters.slice(0, width - 1 - tail).join('');
  return `${head}…${tail === 0 ? '' : characters.slice(-tail).join('')}`;
}

function records(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const longest = Math.max(...head.map((name) => name.length));
  return rows
    .map((row, at) =>
      [
        `─ ${at + 1} ─`,
        ...row.map((cell, of) => `${(head[of] ?? '').padEnd(longest)}  ${cell}`),
      ].join('\n'),
    )
    .join('\n');
}
