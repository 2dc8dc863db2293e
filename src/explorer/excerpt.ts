import { printable } from '../printable.ts';

/** Longest excerpt of an answer in an error or a log line, in characters: one line of a terminal or two. */
const longest = 200;

/** Characters looked at; far more than shown, so that a secret is redacted whole before the cut. */
const readAhead = 64 * 1024;

/**
 * The start of a foreign text as one harmless line: redacted, runs of white space made one
 * space, control and direction characters escaped, at most 200 characters.
 */
export function excerpt(text: string, redact: (text: string) => string): string {
  const line = printable(redact(text.slice(0, readAhead)).replaceAll(/\s+/gu, ' ').trim());
  const cut = line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
  return cut.toWellFormed();
}
