import { scaleLinear } from 'd3-scale';
import { compact } from '../../terminal/numbers.ts';
import type { Level } from './chart.ts';

/** From nothing, at the bottom, to a round number that is hardly more than the most; with its level and half of it. */
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
    .map((value): Level => ({ y: Math.round(scale(value)), label: compact(value) }));
  return { toY: (value) => scale(value), levels };
}
