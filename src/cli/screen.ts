import { createLogUpdate } from 'log-update';
import type { Look } from '../terminal/look.ts';
import type { Context } from './context.ts';

/** Where progress and log lines meet: neither writes over the other. */
export interface Screen {
  /** What the lines are drawn on; a terminal may have another width each time. */
  readonly look: Look;
  /** Writes for good, above the lines that are redrawn. */
  write(text: string): void;
  /** Redraws the lines; nothing where nothing can be redrawn. */
  lines(lines: readonly string[]): void;
  /** Leaves the lines as they are. */
  done(): void;
  /** Takes them away. */
  clear(): void;
}

const nothing = () => undefined;

export function openScreen(context: Context): Screen {
  const { err, stderr } = context;
  if (!err.isTerminal) {
    return { look: err, write: stderr, lines: nothing, done: nothing, clear: nothing };
  }
  const update = createLogUpdate(process.stderr, { showCursor: true });
  let shown = '';
  return {
    get look() {
      return { ...err, columns: process.stderr.columns > 0 ? process.stderr.columns : err.columns };
    },
    write(text) {
      update.clear();
      stderr(text);
      if (shown !== '') update(shown);
    },
    lines(lines) {
      shown = lines.join('\n');
      update(shown);
    },
    done() {
      update.done();
      shown = '';
    },
    clear() {
      update.clear();
      update.done();
      shown = '';
    },
  };
}
