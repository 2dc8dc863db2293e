import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import truncatedWidth from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';

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

/** The colour of each meaning; the only place for colours. */
const formats = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  quiet: 'dim',
  strong: 'bold',
  command: 'cyan',
} as const;

export type Style = keyof typeof formats;

/** The text in the colour of its meaning, if there are colours. */
export const paint = ({ isColoured }: Pick<Look, 'isColoured'>, style: Style, text: string) =>
  // `isColoured` already includes the check of the stream.
  isColoured ? styleText(formats[style], text, { validateStream: false }) : text;

/** The dot before a verdict, in its colour. */
export const mark = (look: Pick<Look, 'isColoured'>, style: Style): string =>
  paint(look, style, '●');

/** Columns of a text on a terminal: wide characters take two, colours none. */
export const widthOf = (text: string): number => truncatedWidth(text).width;

/** Cuts a text to `width` columns with …: a hash in its middle, other texts at their end. */
export function fit(text: string, width: number): string {
  if (width < 1) return '';
  const { index, truncated } = truncatedWidth(text, { limit: width, ellipsis: '…' });
  if (!truncated) return text;
  const tail = /^0x[0-9a-f]+$/u.test(text) ? Math.floor((width - 1) / 2) : 0;
  const cut = `${text.slice(0, index - tail)}…${text.slice(text.length - tail)}`;
  // The end of a colour may have been cut off.
  return cut.includes('\u001B[') ? `${cut}\u001B[0m` : cut;
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
  const lines = look.isTerminal ? wrap(text, width, 2) : [text];
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
  const all = head === undefined ? rows : [head, ...rows];
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

/** Commands to go on with, and what each does. */
export function nextLines(
  look: Look,
  steps: readonly (readonly [command: string, what: string])[],
): string[] {
  const rows = steps.map(([command, what]) => [`  ${paint(look, 'command', command)}`, what]);
  return ['Next:', ...tableLines(look, { rows, flexible: [1] })];
}
