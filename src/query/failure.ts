import { DatabaseError } from 'pg';
import { printable } from '../printable.ts';

/** The statement is one that can't be asked. The message says what is wrong, and shows where. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** The bare command that can do it instead. */
  readonly command: string | null;

  constructor(message: string, options: ErrorOptions & { readonly command?: string } = {}) {
    super(message, options);
    this.command = options.command ?? null;
  }
}

/** The statement took longer than it was given. */
export class StatementTimeoutError extends Error {
  override readonly name = 'StatementTimeoutError';
}

/**
 * Classes of SQLSTATE in which the server, and not the statement, is at fault: the same statement may
 * succeed later. All others are for who wrote it.
 */
const serverClasses: ReadonlySet<string> = new Set('08 40 53 55 57 58 F0 XX'.split(' '));

/** Of one of these classes, but about the statement: it has parameters, such as `$1`, without values. */
const unbound = '08P01';

/** A line is shown around the fault, this many characters to either side. */
const shownAround = 36;

/**
 * What a failed statement's error is for the person who wrote it, as psql shows it: the message, the place,
 * detail and hint. An error that is not about the statement is returned as it is.
 *
 * @param text the statement as it was sent
 */
export function explainFailure(error: unknown, text: string, timeoutMs: number): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code = '', routine } = error;
  if (code === '57014' && timeoutMs > 0 && isTimeout(error)) {
    const took = `the statement took longer than ${timeoutMs / 1000} s and was cancelled`;
    return new StatementTimeoutError(`${took}: --timeout gives it more time, 0 no limit.`);
  }
  if (serverClasses.has(code.slice(0, 2)) && code !== unbound) return error;
  if (routine === 'exec_parse_message') {
    return new StatementError('one statement at a time: there is more behind the first semicolon.');
  }
  const lines = [
    `${printable(error.message)} (${code})`,
    ...placeOf(error, text),
    ...(error.detail === undefined ? [] : [`DETAIL: ${printable(error.detail)}`]),
    ...(error.hint === undefined ? [] : [`HINT: ${printable(error.hint)}`]),
  ];
  return new StatementError(lines.join('\n'), { cause: error });
}

/** The code is that of every cancelled statement; the other reason is that a person cancelled it. */
const isTimeout = ({ message }: DatabaseError) => !/user request/u.test(message);

const shown = (part: readonly string[]): string => printable(part.join(''));

/** The line of the statement, and a mark below the character that the error names. */
function placeOf({ position }: DatabaseError, text: string): string[] {
  if (position === undefined) return [];
  // Postgres counts characters from 1, JavaScript units of 16 bits.
  const before = Array.from(text)
    .slice(0, Number(position) - 1)
    .join('');
  const start = before.lastIndexOf('\n') + 1;
  const end = text.indexOf('\n', before.length);
  const line = Array.from(text.slice(start, end === -1 ? undefined : end).replaceAll('\t', ' '));
  const column = Array.from(before.slice(start)).length;
  const from = Math.max(0, column - shownAround);
  const to = Math.min(line.length, column + shownAround);
  const label = `LINE ${before.split('\n').length}: ${from > 0 ? '…' : ''}`;
  const lead = `${label}${shown(line.slice(from, column))}`;
  return [
    `${lead}${shown(line.slice(column, to))}${to < line.length ? '…' : ''}`,
    `${' '.repeat(Array.from(lead).length)}^`,
  ];
}
