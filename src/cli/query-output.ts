import type { Pool } from 'pg';
import { printable, printableLines } from '../printable.ts';
import { csvHead, csvLines } from '../query/csv.ts';
import { StatementError } from '../query/failure.ts';
import type { Answer, Column, Row } from '../query/read.ts';
import { isNumber, isText, jsonText, readTypeNames } from '../query/value.ts';
import type { Context } from './context.ts';
import { exits } from './exits.ts';
import { table } from './table.ts';

export const formats = ['table', 'csv'] as const;
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
  return form === 'csv' ? csvOutput(context) : tableOutput(context, isQuiet);
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

/**
 * The document `query`, written while rows are read: how it ended is known, and told, at its end. Nothing is
 * written before the first rows are there, so that what fails by then has a document of its own.
 */
function documentOutput(context: Context, pool: Pool): Output {
  let columns: readonly Column[] = [];
  let keys: readonly string[] = [];
  let count = 0;
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

/** Told apart from an empty text, and from the text NULL. */
const nullText = '<null>';
/** What is left of a value that is cut: enough to tell two hashes apart. In characters, without blanks. */
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
 * An answer for people. Where it is wider than `width`, long values are shortened; where that does not
 * make it fit, each row becomes a block with a line for each column.
 *
 * @param width in characters; null where it does not matter
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
  const whole = compact(table(head, cells, { aligns }));
  if (width === null || columns.length === 0 || widthOf(whole) <= width) {
    return { text: whole, shape: 'whole' };
  }
  const widths = narrowed(columnWidths(whole), columns, width);
  if (widths === null) return { text: records(head, cells), shape: 'records' };
  const short = cells.map((row) =>
    row.map((cell, at) => shorten(cell, (widths[at] ?? 0) - padding)),
  );
  return { text: compact(table(head, short, { aligns, widths })), shape: 'shortened' };
}

/** The line below the head is enough: twice as many rows are seen at once. */
const compact = (text: string): string =>
  text
    .split('\n')
    .filter((line, at) => at === 2 || !line.startsWith('├'))
    .join('\n');

const topOf = (text: string): string => text.slice(0, text.indexOf('\n'));
const widthOf = (text: string): number => topOf(text).length;
const columnWidths = (text: string): number[] =>
  topOf(text)
    .slice(1, -1)
    .split('┬')
    .map((line) => line.length);

/** Takes from the widest columns of text until all fit; null where that is not enough. */
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
