import type { Look } from '../terminal/look.ts';

/** So many are named on a terminal; the others are counted. */
const mostNamed = 3;

/**
 * Feeds in a sentence, each once. On a terminal many are counted: what is about all of them is a sentence then,
 * and no paragraph of names.
 *
 * @param all every feed that there is to speak of
 */
export function feedNames(
  feeds: readonly string[],
  all: readonly string[],
  { isTerminal }: Pick<Look, 'isTerminal'>,
): string {
  const named = [...new Set(feeds)];
  const others = named.length - mostNamed;
  if (!isTerminal || others <= 1) return named.join(', ');
  if (named.length === new Set(all).size) return `all ${named.length} feeds`;
  return `${named.slice(0, mostNamed).join(', ')} and ${others} more`;
}
