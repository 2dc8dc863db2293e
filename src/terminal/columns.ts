import type { Look } from './look.ts';
import { paint } from './paint.ts';
import { fit, pad, widthOf } from './width.ts';

const gap = 2;
/** Minimum width of a cut column. */
const leastWidth = 8;

export interface Columns {
  readonly head?: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Absent: left. */
  readonly aligns?: readonly ('left' | 'right')[];
  /** The column to cut on a narrow terminal; absent: none. */
  readonly flexible?: number;
}

/** The table's lines, no wider than the terminal if the flexible column can be cut enough. */
export function columns(look: Look, { head, rows, aligns = [], flexible }: Columns): string[] {
  const all = head === undefined ? rows : [head, ...rows];
  const widths = widthsOf(all);
  const excess = widths.reduce((sum, width) => sum + width + gap, -gap) - look.columns;
  if (look.isTerminal && flexible !== undefined && excess > 0) {
    widths[flexible] = Math.max(leastWidth, (widths[flexible] ?? 0) - excess);
  }
  const lines = all.map((row) =>
    row
      .map((cell, at) => pad(fit(cell, Math.max(1, widths[at] ?? 0)), widths[at] ?? 0, aligns[at]))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
  const [first = '', ...others] = lines;
  return head === undefined ? lines : [paint(look, 'quiet', first), ...others];
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
    }
  }
  return widths;
}
