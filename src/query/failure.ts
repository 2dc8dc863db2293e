import { DatabaseError } from 'pg';
import { errorOf } from '../failure.ts';
import { printable } from '../printable.ts';

/** The statement is invalid. The message says what is wrong, and shows where. */
export class StatementError extends errorOf('statement') {}

/** The statement took longer than its timeout. */
export class StatementTimeoutError extends errorOf('statement-timeout') {}

/** SQLSTATE classes of server faults: the same statement may succeed later. */
const serverClasses: ReadonlySet<string> = new Set('08 40 53 55 57 58 F0 XX'.split(' '));

/** In one of these classes, but a statement's fault: a parameter such as `$1` has no value. */
const unbound = '08P01';

/** Characters shown on either side of the fault. */
const shownAround = 36;

/**
 * The error of a failed statement for its author, as psql shows it: message, place, detail and hint. Other errors
 * are returned unchanged.
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
    return new StatementError('one statement at a time: remove what follows the first semicolon.');
  }
  const lines = [
    `${printable(error.message)} (${code})`,
    ...placeOf(error, text),
    ...(error.detail === undefined ? [] : [`DETAIL: ${printable(error.detail)}`]),
    ...(error.hint === undefined ? [] : [`HINT: ${printable(error.hint)}`]),
  ];
  return new StatementError(lines.join('\n'), { cause: error });
}

/** A person's cancellation has the same code. */
const isTimeout = ({ message }: DatabaseError) => !/user request/u.test(message);

const shown = (part: readonly string[]): string => printable(part.join(''));

/** The line of the statement, with a mark below the error's character. */
function placeOf({ position }: DatabaseError, text: string): string[] {
  if (position === undefined) return [];
  // Postgres counts characters from 1, JavaScript UTF-16 units.
  const all = Array.from(text.replaceAll('\t', ' '));
  const at = Number(position) - 1;
  const before = all.slice(0, at);
  const start = before.lastIndexOf('\n') + 1;
  const end = all.indexOf('\n', at) === -1 ? all.length : all.indexOf('\n', at);
  const [from, to] = [Math.max(start, at - shownAround), Math.min(end, at + shownAround)];
  const line = before.filter((character) => character === '\n').length + 1;
  const lead = `LINE ${line}: ${from > start ? '…' : ''}${shown(all.slice(from, at))}`;
  return [
    `${lead}${shown(all.slice(at, to))}${to < end ? '…' : ''}`,
    `${' '.repeat(Array.from(lead).length)}^`,
  ];
}
