import { scaleUtc } from 'd3-scale';
import { utcFormat } from 'd3-time-format';
import { binStart, placeIn, type TimeWindow } from '../../time-window.ts';
import { html, type Html } from '../html.ts';

const dayMs = 86_400_000;
const minuteOf = utcFormat('%H:%M');
const dayOf = utcFormat('%-d %b');
const momentOf = utcFormat('%-d %b %H:%M');

/** A tick for each quarter of an hour, six hours or week: so many find room in 300 pixels. */
const tickCount = 4;

/** A place from the left, such as `12.5%`. */
export const share = (part: number): string => `${Math.round(part * 10_000) / 100}%`;

/** The time of a day, such as `19:40`. */
export const minuteText = (at: number): string => minuteOf(new Date(at));

/** When the window ends, in ms. */
export const endOf = (window: TimeWindow): number => binStart(window, window.bins);

/** Where the ticks of a window are, as parts of its width. */
export const ticksOf = (window: TimeWindow): { readonly at: Date; readonly part: number }[] =>
  scaleUtc()
    .domain([window.from, endOf(window)])
    .ticks(tickCount)
    .map((at) => ({ at, part: placeIn(window, at.getTime()) / window.bins }));

/** The time axis below charts of one window. Charts tell their window by themselves, so nobody hears it again. */
export const timeAxis = (window: TimeWindow): Html =>
  html`<svg class="axis" aria-hidden="true" width="100%" height="16">
    ${ticksOf(window).map(
      ({ at, part }) =>
        html`<text x="${share(part)}" y="12" text-anchor="${anchorOf(part)}">
          ${at.getTime() % dayMs === 0 ? dayOf(at) : minuteOf(at)}
        </text>`,
    )}
  </svg>`;

/** A label at the edge would be cut in the middle. */
export function anchorOf(part: number): 'start' | 'middle' | 'end' {
  if (part < 0.05) return 'start';
  return part > 0.95 ? 'end' : 'middle';
}

/** When a stretch is, as short as its width allows: `22 Nov`, or `22 Nov 14:00–15:00`. */
export function stretchText(from: number, seconds: number): string {
  if (seconds % 86_400 === 0 && from % dayMs === 0) return dayOf(new Date(from));
  return `${momentOf(new Date(from))}–${minuteOf(new Date(from + 1000 * seconds))}`;
}
