import { area, line } from 'd3-shape';
import { binStart, type TimeWindow } from '../../time-window.ts';
import { html, type Html } from '../html.ts';
import { unitsPerBin, type Stretch } from './chart.ts';

/** A point of a chart: x in its units, y in px from the top. Null is a hole. */
export type Point = readonly [x: number, y: number] | null;

/** Half a bin to the right of its begin. */
export const middleOf = (bin: number): number => unitsPerBin * bin + unitsPerBin / 2;

/** A line that is broken where there is a hole; a point between two holes is a dot. */
export function linePath(points: readonly Point[], name: string): Html {
  const path = line<Point>()
    .defined((point) => point !== null)
    .x((point) => point?.[0] ?? 0)
    .y((point) => point?.[1] ?? 0)
    .digits(0)(withoutMiddles(points));
  return path === null ? html`` : html`<path class="line ${name}" d="${path}"></path>`;
}

/** What is between two heights: x in the units of the chart, both in px from the top. Null is a hole. */
export type Slice = readonly [x: number, bottom: number, top: number] | null;

/** An area that is broken where there is a hole. */
export function areaPath(slices: readonly Slice[], name: string): Html {
  const path = area<Slice>()
    .defined((slice) => slice !== null)
    .x((slice) => slice?.[0] ?? 0)
    .y0((slice) => slice?.[1] ?? 0)
    .y1((slice) => slice?.[2] ?? 0)
    .digits(0)(slices);
  return path === null ? html`` : html`<path class="area ${name}" d="${path}"></path>`;
}

/** The slices of a bin from its begin to its end: one that stands alone has a width too. */
export const stepSlices = (bin: number, bottom: number, top: number): Slice[] => [
  [unitsPerBin * bin, bottom, top],
  [unitsPerBin * (bin + 1), bottom, top],
];

/** A level stretch is drawn by its two ends: most of a quiet line is level. */
function withoutMiddles(points: readonly Point[]): Point[] {
  return points.filter((point, index) => {
    const [before, after] = [points[index - 1] ?? null, points[index + 1] ?? null];
    if (point === null || before === null || after === null) return true;
    const y = Math.round(point[1]);
    return y !== Math.round(before[1]) || y !== Math.round(after[1]);
  });
}

/**
 * Where nobody noted anything, between the first and the last bin that somebody did, and up to the present.
 * What was before the first is no hole: the history begins there.
 *
 * @param bins that were noted, in their order
 * @param at the present, in ms
 */
export function holesOf(window: TimeWindow, bins: readonly number[], at: number): Stretch[] {
  const holes: Stretch[] = [];
  for (const [index, bin] of bins.entries()) {
    const next = bins[index + 1];
    const from = binStart(window, bin + 1);
    const to = next === undefined ? at : binStart(window, next);
    // The newest minute is noted when it is over.
    const isOpen = next === undefined && to - from <= newestMs;
    if (to > from && !isOpen) holes.push({ from, to });
  }
  return holes;
}

const newestMs = 120_000;
