import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Look } from './look.ts';

/** How many columns of a terminal a text takes: wide characters take two, colours none. */
export const widthOf = (text: string): number => stringWidth(text);

/**
 * A text in no more than `width` columns, with … where something was left out.
 *
 * @param keep which part tells most: the `start`, or both `ends`, as of a hash
 */
export const fit = (text: string, width: number, keep: 'start' | 'ends' = 'start'): string =>
  width < 1 ? '' : cliTruncate(text, width, { position: keep === 'start' ? 'end' : 'middle' });

/** A text filled with blanks up to `width` columns, lying on that side. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return side === 'left' ? text + blanks : blanks + text;
}

/**
 * A text as lines of at most `width` columns, broken between words; a word that is longer stays whole, so
 * that it can be copied.
 *
 * @param indent blanks before each line but the first
 */
export function wrap(text: string, width: number, indent = 0): string[] {
  const [first = '', ...rest] = wrapAnsi(text, Math.max(1, width), { trim: true }).split('\n');
  if (rest.length === 0) return [first];
  const narrow = wrapAnsi(rest.join(' '), Math.max(1, width - indent), { trim: true });
  return [first, ...narrow.split('\n').map((line) => ' '.repeat(indent) + line)];
}

/** So many names stand in a sentence on a terminal; the others are counted. */
const mostNamed = 3;

/**
 * Names of feeds in a sentence, each once. Off a terminal all are named.
 *
 * @param total of how many feeds they are some
 */
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
