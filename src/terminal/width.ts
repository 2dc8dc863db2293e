import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Look } from './look.ts';

/** Columns of a text on a terminal: wide characters take two, colours none. */
export const widthOf = (text: string): number => stringWidth(text);

/** Cuts a text to `width` columns with …; `keep` is the `start`, or for a hash both `ends`. */
export const fit = (text: string, width: number, keep: 'start' | 'ends' = 'start'): string =>
  width < 1 ? '' : cliTruncate(text, width, { position: keep === 'start' ? 'end' : 'middle' });

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

/** Names in a sentence on a terminal; the sentence counts the others. */
const mostNamed = 3;

/** Names of feeds in a sentence, each once, out of `total`. Without a terminal it names all. */
export function feedNames(
  { isTerminal }: Pick<Look, 'isTerminal'>,
  feeds: readonly string[],
  total: number,
): string {
  const named = [...new Set(feeds)];
  const others = named.length - mostNamed;
  if (!isTerminal || others <= 1) return named.join(', ');
  if (named.length === total) return `all ${total} feeds`;
  return `${named.slice(0, mostNamed).join(', ')} and ${others} more`;
}
