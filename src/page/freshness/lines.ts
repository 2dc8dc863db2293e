import { scaleLog } from 'd3-scale';
import { counted, duration } from '../../terminal/numbers.ts';
import type { TimeWindow } from '../../time-window.ts';
import type { Stretch } from '../charts/chart.ts';
import { areaPath, holesOf, linePath, middleOf, type Point, type Slice } from '../charts/marks.ts';
import type { Html } from '../html.ts';
import type { FreshnessBin } from './facts.ts';

/** Ten times the objective is as far above it as a tenth of it is below: all rows have it at the same height. */
const shares = [0.1, 10] as const;

/** A small line of a feed, and what is over the objective filled; holes are holes. */
export function sparkMarks(
  window: TimeWindow,
  bins: readonly FreshnessBin[],
  { height, at }: { readonly height: number; readonly at: number },
): { readonly marks: readonly Html[]; readonly stretches: readonly Stretch[] } {
  const toY = scaleLog()
    .domain(shares)
    .range([height - 2, 2])
    .clamp(true);
  const points = inWindow(window, bins).map((bin): Point => {
    const place = bin?.share ?? null;
    return bin === null || place === null ? null : [middleOf(bin.bin), toY(Math.max(place, 0.001))];
  });
  const late = points.map((point): Slice => {
    if (point === null || point[1] >= height / 2) return null;
    return [point[0], height / 2, point[1]];
  });
  return {
    marks: [areaPath(widened(late), 'late'), linePath(points, 'share')],
    stretches: holesOf(
      window,
      bins.map(({ bin }) => bin),
      at,
    ),
  };
}

/** A bin that is late by itself has a width too. */
const widened = (slices: readonly Slice[]): Slice[] =>
  slices.flatMap((slice): Slice[] =>
    slice === null
      ? [null]
      : [
          [slice[0] - 1, slice[1], slice[2]],
          [slice[0] + 1, slice[1], slice[2]],
        ],
  );

/** Every bin of the window; null where nobody noted anything. */
export function inWindow(
  window: TimeWindow,
  bins: readonly FreshnessBin[],
): (FreshnessBin | null)[] {
  const byPlace = new Map(bins.map((bin) => [bin.bin, bin]));
  return Array.from({ length: window.bins }, (_, place) => byPlace.get(place) ?? null);
}

/** The worst of a stretch, in words. */
export function worstOf(bins: readonly FreshnessBin[], holes: readonly Stretch[]): string {
  if (bins.length === 0) return 'no history';
  const ages = bins.flatMap(({ age_s }) => age_s ?? []);
  const late = bins.filter(({ share }) => share !== null && share > 1).length;
  const away = holes.reduce((sum, { from, to }) => sum + (to - from) / 1000, 0);
  return [
    ages.length === 0 ? 'no look' : `at most ${duration(Math.max(...ages))} since a look`,
    late === 0 ? 'never late' : `late in ${late} of ${counted(bins.length, 'part')}`,
    ...(away > 0 ? [`nobody worked for ${duration(away)}`] : []),
  ].join(', ');
}
