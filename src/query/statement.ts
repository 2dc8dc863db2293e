import { StatementError } from './failure.ts';

/** What only reads. `copy … to program` runs programs even in a transaction that is read only. */
const readingWords: readonly string[] = ['select', 'with', 'values', 'table', 'explain', 'show'];

/**
 * Refuses what is not a statement that reads. The rest is the server's to refuse: the transaction is read
 * only, and takes one statement.
 *
 * @throws StatementError
 */
export function demandReading(text: string): void {
  const word = firstWord(text);
  if (word === '') throw new StatementError('there is no statement.');
  if (readingWords.includes(word)) return;
  throw new StatementError(
    `query only reads: a statement begins with ${readingWords.join(', ')}, this one with "${word}". "explorer-etl db shell" opens psql for the rest.`,
  );
}

/** The first word behind blanks, comments and parentheses, in lower case; what is no word as it is. */
function firstWord(text: string): string {
  let rest = text;
  for (;;) {
    const trimmed = rest.replace(/^[\s(;]+/u, '').replace(/^--[^\n]*/u, '');
    const next = trimmed.startsWith('/*') ? trimmed.slice(commentLength(trimmed)) : trimmed;
    if (next === rest) break;
    rest = next;
  }
  return (/^\w+/u.exec(rest)?.[0] ?? rest.slice(0, 1)).toLowerCase();
}

/** Comments of Postgres nest; one that does not end is as long as the text. */
function commentLength(text: string): number {
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//gu)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return index + mark.length;
  }
  return text.length;
}
