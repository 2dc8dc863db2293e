import type { PartState } from '../../lists/ribbon.ts';

/** How much of one of the equal parts of a window is in a state. */
export interface Cell {
  readonly cell: number;
  readonly state: PartState;
  readonly count: number;
  /** Its lowest and highest height in that state. */
  readonly from: number;
  readonly to: number;
  /** Ranges that begin in it. */
  readonly ranges: number;
}

/** A stretch of a window that is drawn in one state. */
export interface Segment {
  /** The gravest of what is there: what is missing is never hidden by what is not. */
  readonly state: PartState;
  readonly from: number;
  readonly to: number;
  /** How many heights of it are in the state: all, where the window tells so much. */
  readonly count: number;
  /** In how many ranges they lie. */
  readonly ranges: number;
}

/** The gravest first. */
const gravity: readonly PartState[] = [
  'gap',
  'held',
  'flight',
  'waiting',
  'unknown',
  'unwanted',
  'proved',
];

/** The window as segments that follow each other, each in the gravest state of what is in it. Pure. */
export function segmentsOf(
  cells: readonly Cell[],
  window: { readonly from: number; readonly to: number },
  size: number,
): Segment[] {
  const segments: Segment[] = [];
  const byCell = Map.groupBy(cells, ({ cell }) => cell);
  for (const [cell, states] of [...byCell].toSorted(([a], [b]) => a - b)) {
    const [gravest] = states.toSorted(
      (a, b) => gravity.indexOf(a.state) - gravity.indexOf(b.state),
    );
    if (gravest === undefined) continue;
    const { state, count, ranges } = gravest;
    const from = window.from + cell * size;
    const to = Math.min(window.to, from + size - 1);
    const last = segments.at(-1);
    if (last?.state === state) {
      segments[segments.length - 1] = {
        ...last,
        to,
        count: last.count + count,
        ranges: last.ranges + ranges,
      };
    } else {
      // A range that goes on from the segment before it is one here too.
      segments.push({ state, from, to, count, ranges: Math.max(1, ranges) });
    }
  }
  return segments;
}
