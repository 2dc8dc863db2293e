import { createLogUpdate } from 'log-update';
import type { LogFormat } from '../log-levels.ts';
import { createLog, type Log } from '../log.ts';
import { type Look, paint } from '../terminal/look.ts';
import type { Context, GlobalOptions } from './context.ts';

/** Progress and log lines share stderr: neither overwrites the other. */
export interface Screen {
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

export function openScreen({ err, stderr }: Pick<Context, 'err' | 'stderr'>): Screen {
  if (!err.isTerminal) {
    return { look: err, write: stderr, lines: nothing, step: nothing, clear: nothing };
  }
  const update = createLogUpdate(process.stderr, { showCursor: true });
  let shown = '';
  const lines = (drawn: readonly string[]) => {
    shown = drawn.join('\n');
    update(shown);
  };
  return {
    get look() {
      return { ...err, columns: process.stderr.columns > 0 ? process.stderr.columns : err.columns };
    },
    write(text) {
      update.clear();
      stderr(text);
      if (shown !== '') update(shown);
    },
    lines,
    step: (text) => lines([paint(err, 'quiet', `${text} …`)]),
    clear() {
      update.clear();
      update.done();
      shown = '';
    },
  };
}

/** The option's format; by default pretty on a terminal, otherwise JSON lines. */
export const formatOf = (
  { err }: Pick<Context, 'err'>,
  { logFormat }: Pick<GlobalOptions, 'logFormat'>,
): LogFormat => logFormat ?? (err.isTerminal ? 'pretty' : 'json');

/** A command's log, in the format of its options and of stderr. */
export const logOf = (
  context: Context,
  options: Pick<GlobalOptions, 'logLevel' | 'logFormat'>,
  write: (line: string) => void = context.stderr,
): Log =>
  createLog(options.logLevel, write, {
    format: formatOf(context, options),
    isColoured: context.err.isColoured,
    now: () => performance.now(),
  });
