import { createLogUpdate } from 'log-update';
import type { Look } from '../terminal/look.ts';
import { paint } from '../terminal/paint.ts';
import type { Context } from './context.ts';

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
