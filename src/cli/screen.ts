import { every } from '../time.ts';
import { createLog, type Log, type LogFormat } from '../log.ts';
import type { StatusDocument } from '../status/schema.ts';
import { type Look, paint, terminalText } from '../terminal/layout.ts';
import type { Context } from './context.ts';

/** Progress and log lines share stderr: neither overwrites the other. Disposing of it clears it. */
export interface Screen extends Disposable {
  /** Whether `lines` has an effect. */
  readonly isDrawn: boolean;
  /** Read each time, because a terminal may be resized. */
  readonly look: Look;
  /** Writes permanently, above the redrawn lines. */
  write(text: string): void;
  /** Redraws the lines; does nothing without a terminal. */
  lines(lines: readonly string[]): void;
  /** Shows the current wait until the next drawing. */
  step(text: string): void;
  clear(): void;
}

const nothing = () => undefined;

type Terminal = NodeJS.WritableStream & Pick<NodeJS.WriteStream, 'columns' | 'rows'>;

/** With `quiet` it draws nothing. `below`: lines under each drawing. */
export async function openScreen(
  { err, stderr, quiet = false }: Pick<Context, 'err' | 'stderr'> & Partial<Context>,
  below: readonly string[] = [],
  terminal: Terminal = process.stderr,
): Promise<Screen> {
  if (!err.isTerminal || quiet) {
    const silent = { lines: nothing, step: nothing, clear: nothing, [Symbol.dispose]: nothing };
    return { isDrawn: false, look: err, write: stderr, ...silent };
  }
  // A start that draws nothing does not load it.
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(terminal, { showCursor: true });
  let shown = '';
  const lines = (drawn: readonly string[]) => {
    // The most important comes first: what does not fit is cut at the bottom.
    const most = terminal.rows > 1 ? terminal.rows - 1 : undefined;
    shown = terminalText([...drawn, ...below].slice(0, most).join('\n'));
    update(shown);
  };
  const clear = () => {
    update.clear();
    update.done();
    shown = '';
  };
  return {
    isDrawn: true,
    get look() {
      return { ...err, columns: terminal.columns > 0 ? terminal.columns : err.columns };
    },
    write(text) {
      update.clear();
      stderr(text);
      if (shown !== '') update(shown);
    },
    lines,
    step: (text) => lines([paint(err, 'quiet', `${text} …`)]),
    clear,
    [Symbol.dispose]: clear,
  };
}

/** Between two readings of the status, in ms: each takes a tenth of that or less. */
const pauseMs = 1_000;

/** Redraws the status regularly. @returns a function that ends it after a last drawing */
export function watchStatus(
  screen: Screen,
  read: () => Promise<StatusDocument>,
  linesOf: (status: StatusDocument, look: Look) => readonly string[],
): () => Promise<void> {
  if (!screen.isDrawn) return async () => undefined;
  const ending = new AbortController();
  const show = (status: StatusDocument) => screen.lines(linesOf(status, screen.look));
  // The work itself reports a failure to read.
  const draw = () => read().then(show, () => undefined);
  const watching = every(pauseMs, ending.signal, draw, () => undefined);
  return async () => {
    ending.abort();
    await watching;
    await draw();
  };
}

/** The option's format; by default pretty on a terminal, otherwise JSON lines. */
export const formatOf = ({ err, logFormat }: Pick<Context, 'err' | 'logFormat'>): LogFormat =>
  logFormat ?? (err.isTerminal ? 'pretty' : 'json');

/** A command's log, in the format of its options and of stderr; warnings of Node and of packages are lines of it. */
export function logOf(context: Context, write: (line: string) => void = context.stderr): Log {
  const log = createLog(context.logLevel, write, {
    format: formatOf(context),
    isColoured: context.err.isColoured,
    now: () => performance.now(),
  });
  context.onWarning?.(({ name, message }) =>
    log.write('process.warning', { problem: `${name}: ${message}` }),
  );
  return log;
}
