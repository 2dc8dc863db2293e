import type { Column, Row } from '../query/read.ts';
import { isNumber, isText } from '../query/value.ts';
import { printable } from '../printable.ts';
import { table } from './table.ts';

/** Told apart from an empty text, and from the text NULL. */
const nullText = '<null>';
/** What is left of a value that is cut: enough to tell two hashes apart. In characters, without blanks. */
const leastWidth = 13;
/** A blank on either side. */
const padding = 2;

/** How an answer was made to fit. */
export interface ShownTable {
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
export function answerTable(
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
