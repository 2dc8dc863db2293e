import { createLogUpdate } from 'log-update';
import type { Look } from '../terminal/look.ts';
import { paint } from '../terminal/paint.ts';
import type { Context } from './context.ts';

/** Where progress and log lines meet on stderr: neither writes over the other. */
export interface Screen {
  /** What the lines are drawn on; a terminal may have another width each time. */
  readonly look: Look;
  /** Writes for good, above the lines that are redrawn. */
  write(text: string): void;
  /** Redraws the lines; nothing where nothing can be redrawn. */
  lines(lines: readonly string[]): void;
  /** Says what is waited for, until something else is drawn. */
  step(text: string): void;
  /** Takes the lines away. */
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
