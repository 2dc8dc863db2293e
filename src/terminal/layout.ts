import { randomInt } from 'node:crypto';
import { WriteStream } from 'node:tty';
import truncatedWidth from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { printable, printableLines } from '../printable.ts';

export interface Look {
  /** Whether lines can be redrawn. */
  readonly isTerminal: boolean;
  /** Width in characters. Without a terminal it limits prose and tables only, and cuts nothing. */
  readonly columns: number;
  readonly isColoured: boolean;
}

export const plainLook: Look = { isTerminal: false, columns: 100, isColoured: false };

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/**
 * What a stream is drawn on. Node decides on colour by `FORCE_COLOR`, `NO_COLOR` and `TERM`
 * (https://nodejs.org/docs/latest-v24.x/api/tty.html#writestreamgetcolordepthenv).
 */
export function lookOf({ isTTY, columns }: Stream, env: NodeJS.ProcessEnv): Look {
  // Redrawing needs a known width and a cursor that moves.
  const isTerminal = isTTY && columns > 0 && env.TERM !== 'dumb';
  const mayColour = isTTY || env.FORCE_COLOR !== undefined;
  return {
    isTerminal,
    columns: isTTY && columns > 0 ? columns : plainLook.columns,
    isColoured: mayColour && WriteStream.prototype.getColorDepth(env) > 1,
  };
}

/**
 * In each colour of ours until it is written: foreign text can't guess it, so it can't colour anything. Measuring skips
 * parameters of four digits at most.
 */
const seal = Array.from({ length: 4 }, () => randomInt(1_000, 10_000)).join(';');
const sgr = (code: number) => `\u001B[${seal};${code}m`;
const ownColour = new RegExp(`(\\u001B\\[${seal};\\d+m)`, 'u');

const escaped = (text: string, escape: (part: string) => string): string =>
  text
    .split(ownColour)
    .map((part, at) => (at % 2 === 0 ? escape(part) : part))
    .join('');

/** A text with all escaped that a terminal obeys, line ends too; colours of `paint` stay. */
const oneLine = (text: string): string => escaped(text, printable);

/** What is written to a terminal: several lines in colours of `paint`, and nothing else that it obeys. */
export const terminalText = (text: string): string =>
  escaped(text, printableLines).replaceAll(`\u001B[${seal};`, '\u001B[');

/** How the colour of each meaning begins and ends (SGR); the only place for colours. */
const formats = {
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
  quiet: [2, 22],
  strong: [1, 22],
  command: [36, 39],
} as const;

export type Style = keyof typeof formats;

/** The text as one line in the colour of its meaning, if there are colours. */
export function paint({ isColoured }: Pick<Look, 'isColoured'>, style: Style, text: string) {
  const [begin, end] = formats[style];
  return isColoured ? sgr(begin) + oneLine(text) + sgr(end) : oneLine(text);
}

/** The dot before a verdict, in its colour. */
export const mark = (look: Pick<Look, 'isColoured'>, style: Style): string =>
  paint(look, style, '●');

/** Columns of a text on a terminal: wide characters take two, colours none. */
export const widthOf = (text: string): number => truncatedWidth(text).width;

/** Cuts a text to `width` columns with …: a hash in its middle, other texts at their end. */
export function fit(text: string, width: number): string {
  if (width < 1) return '';
  const line = oneLine(text);
  const { index, truncated } = truncatedWidth(line, { limit: width, ellipsis: '…' });
  if (!truncated) return line;
  const tail = /^0x[0-9a-f]+$/u.test(line) ? Math.floor((width - 1) / 2) : 0;
  const cut = `${line.slice(0, index - tail)}…${line.slice(line.length - tail)}`;
  // The end of a colour may have been cut off.
  return ownColour.test(cut) ? cut + sgr(0) : cut;
}

/** Fills a text with blanks up to `width` columns; the text is on `side`. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return side === 'left' ? text + blanks : blanks + text;
}

/**
 * Wraps a text between words to `width` columns, with `indent` blanks before all lines but the first. Longer words
 * stay whole, for copying.
 */
export function wrap(text: string, width: number, indent = 0): string[] {
  const [first = '', ...rest] = wrapAnsi(text, Math.max(1, width), { trim: true }).split('\n');
  if (rest.length === 0) return [first];
  const narrow = wrapAnsi(rest.join(' '), Math.max(1, width - indent), { trim: true });
  return [first, ...narrow.split('\n').map((line) => ' '.repeat(indent) + line)];
}

/** Maximum width of prose on any terminal. */
const mostProse = 100;

/** A paragraph, all of it behind `lead` blanks: wrapped on a terminal; in a file one line, for grep. */
export function prose(look: Look, text: string, lead = 0): string[] {
  const width = Math.min(look.columns, mostProse) - lead;
  const whole = oneLine(text);
  const lines = look.isTerminal ? wrap(whole, width, 2) : [whole];
  return lines.map((line) => ' '.repeat(lead) + line);
}

/** A bar of `width` columns; `share` is from 0 to 1, null: unknown. Only 0 is empty, 1 full. */
export function bar(look: Pick<Look, 'isColoured'>, share: number | null, width: number): string {
  if (width < 1) return '';
  if (share === null) return paint(look, 'quiet', '·'.repeat(width));
  const nearest = Math.round(Math.min(1, Math.max(0, share)) * width);
  const filled = share >= 1 ? width : share <= 0 ? 0 : Math.min(width - 1, Math.max(1, nearest));
  const full = paint(look, share >= 1 ? 'good' : 'command', '█'.repeat(filled));
  return full + paint(look, 'quiet', '░'.repeat(width - filled));
}

const gap = 2;
/** Minimum width of a cut column. */
const leastWidth = 8;

export interface Table {
  readonly head?: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Absent: left. */
  readonly aligns?: readonly ('left' | 'right')[];
  /** The columns to cut on a narrow terminal; absent: none. */
  readonly flexible?: readonly number[];
}

/** The table's lines, no wider than the terminal if the flexible columns can be cut enough. */
export function tableLines(
  look: Look,
  { head, rows, aligns = [], flexible = [] }: Table,
): string[] {
  const all = [head ?? [], ...rows].map((row) => row.map(oneLine));
  if (head === undefined) all.shift();
  const [model = []] = all;
  const natural = model.map((_, at) =>
    all.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 1),
  );
  const widths = look.isTerminal ? narrowed(natural, flexible, look.columns) : natural;
  const cellOf = (cell: string, at: number) =>
    pad(fit(cell, widths[at] ?? 1), widths[at] ?? 1, aligns[at]);
  const lines = all.map((row) => row.map(cellOf).join(' '.repeat(gap)).trimEnd());
  const [first = '', ...others] = lines;
  return head === undefined ? lines : [paint(look, 'quiet', first), ...others];
}

/** Caps the flexible columns until all columns fit, or at their minimum. */
function narrowed(natural: readonly number[], flexible: readonly number[], width: number) {
  const capped = (cap: number) =>
    natural.map((one, at) => (flexible.includes(at) ? Math.min(one, cap) : one));
  let cap = Math.max(width, leastWidth);
  while (cap > leastWidth && total(capped(cap)) > width) cap -= 1;
  return capped(cap);
}

const total = (widths: readonly number[]) => widths.reduce((sum, one) => sum + one + gap, -gap);

/** The command to go on with. */
export const nextLine = (look: Look, command: string): string =>
  `Next:  ${paint(look, 'command', command)}`;

/** Commands to go on with, and what each does. */
export function nextLines(
  look: Look,
  steps: readonly (readonly [command: string, what: string])[],
): string[] {
  const rows = steps.map(([command, what]) => [`  ${paint(look, 'command', command)}`, what]);
  return ['Next:', ...tableLines(look, { rows, flexible: [1] })];
}
