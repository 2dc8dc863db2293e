import { scaleLinear } from 'd3-scale';
import { compact } from '../../terminal/numbers.ts';
import type { Level } from './chart.ts';

/** In px from the top: a label at a higher level would lie on that of the top one. */
const roomBelowTop = 26;

/** From nothing, at the bottom, to a round number that is hardly more than the most; with its level, and half of it where there is room. */
export function levelScale(
  most: number,
  height: number,
): { readonly toY: (value: number) => number; readonly levels: readonly Level[] } {
  const scale = scaleLinear()
    .domain([0, most > 0 ? most : 1])
    .nice(2)
    .range([height, 1]);
  const levels = scale
    .ticks(2)
    .filter((value) => value > 0)
    .map((value): Level => ({ y: Math.round(scale(value)), label: compact(value) }))
    .filter(({ y }, index, all) => index === all.length - 1 || y >= roomBelowTop);
  return { toY: (value) => scale(value), levels };
}
