import { placeIn, type TimeWindow } from '../../time-window.ts';
import { html, type Html } from '../html.ts';
import { share, ticksOf } from './time.ts';

/** A stretch of time, in ms. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A place to point at, and what is said there. */
export interface Spot extends Stretch {
  readonly text: string;
}

/** A value with a line across the chart. */
export interface Level {
  /** From the top, in px. */
  readonly y: number;
  readonly label: string;
}

/** In which nobody noted anything. */
export interface Holes {
  readonly stretches: readonly Stretch[];
  /** The pattern that fills them. */
  readonly pattern: string;
}

export interface Chart {
  readonly window: TimeWindow;
  /** In px. The width is what there is. */
  readonly height: number;
  /** All that the chart shows, in a sentence for those who do not see it. */
  readonly label: string;
  /** Lines and areas, in units of `unitsPerBin` from the left and px from the top. */
  readonly marks: readonly Html[];
  readonly levels?: readonly Level[];
  readonly holes?: Holes;
  readonly spots?: readonly Spot[];
  /** What is drawn in its own width: words, bands. */
  readonly above?: readonly Html[];
}

/** The middle of a bin is a whole number then, which is short. */
export const unitsPerBin = 2;

/**
 * A chart as wide as its place. What is stretched to that are lines and areas alone, whose strokes keep their
 * width; words are placed by parts of it, and keep their form.
 */
export const chart = ({ window, height, label, marks, ...parts }: Chart): Html =>
  html`<svg class="chart" role="img" aria-label="${label}" width="100%" height="${height}">
    ${(parts.holes?.stretches ?? []).map((hole) =>
      rectangle(window, hole, { name: 'hole', fill: `url(#${parts.holes?.pattern ?? ''})` }),
    )}
    ${ticksOf(window).map(
      ({ part }) =>
        html`<line class="tick" x1="${share(part)}" x2="${share(part)}" y2="100%"></line>`,
    )}
    ${(parts.levels ?? []).map(
      ({ y }) => html`<line class="level" x2="100%" y1="${y}" y2="${y}"></line>`,
    )}
    <svg
      viewBox="0 0 ${window.bins * unitsPerBin} ${height}"
      preserveAspectRatio="none"
      width="100%"
      height="${height}"
    >
      ${marks}
    </svg>
    ${parts.above ?? []}
    ${(parts.levels ?? []).map(
      ({ y, label: words }) => html`<text y="${y < 14 ? y + 11 : y - 3}">${words}</text>`,
    )}
    ${(parts.spots ?? []).map((spot) => rectangle(window, spot, { name: 'spot', words: spot.text }))}
  </svg>`;

interface RectangleOptions {
  readonly name: string;
  readonly fill?: string;
  /** What is said to those who point at it. */
  readonly words?: string;
}

/** A rectangle from top to bottom; what is outside of the window is cut. */
export function rectangle(
  window: TimeWindow,
  { from, to }: Stretch,
  { name, fill, words }: RectangleOptions,
): Html {
  const left = Math.max(0, placeIn(window, from) / window.bins);
  const right = Math.min(1, placeIn(window, to) / window.bins);
  return html`<rect
    class="${name}"
    x="${share(left)}"
    width="${share(Math.max(0, right - left))}"
    height="100%"
    ${fill === undefined ? '' : html`fill="${fill}"`}
    >${words === undefined ? '' : html`<title>${words}</title>`}</rect
  >`;
}
