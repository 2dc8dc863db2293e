import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import { whole } from '../../terminal/numbers.ts';
import type { RibbonView, SegmentView } from './view.ts';
import { moment, sentence } from './words.ts';

const percent = (part: number, all: number): string =>
  `${Number(((100 * part) / all).toFixed(3))}%`;

/**
 * The bar and its axis. It is hidden from screen readers: the table below it says the same. A click on a segment
 * looks closer at it; the same links are in the table for the keyboard.
 */
export const bar = (view: RibbonView, query: URLSearchParams): Html =>
  html`<svg class="ribbon" aria-hidden="true" height="26" width="100%">
      ${view.segments.map((segment) => piece(view, segment, query))}
    </svg>
    <svg class="axis" aria-hidden="true" height="36" width="100%">
      ${view.ticks.map((tick, at) => mark(view, tick, at))}
    </svg>`;

function piece(view: RibbonView, segment: SegmentView, query: URLSearchParams): Html {
  const { first, last, state } = segment;
  const [x, width] = [percent(first, view.buckets), percent(last + 1 - first, view.buckets)];
  return html`<a href="${zoomOf(view, segment, query)}" data-panel="coverage" tabindex="-1"
    ><title>${sentence(view, segment)}</title
    ><rect class="fill ${state}" x="${x}" y="3" width="${width}" height="20"></rect
    ><rect class="pattern ${state}" x="${x}" y="3" width="${width}" height="20"></rect
  ></a>`;
}

/** The window around a segment, a fourth of it at either side. */
export function zoomOf(
  { feed, whole: all }: RibbonView,
  { from, to }: { readonly from: number; readonly to: number },
  query: URLSearchParams,
): string {
  const margin = Math.max(1, Math.ceil((to - from + 1) / 4));
  return link(query, {
    'coverage-feed': feed,
    'coverage-from': Math.max(all.from, from - margin),
    'coverage-to': Math.min(all.to, to + margin),
    'coverage-span': null,
  });
}

function mark({ ticks, window }: RibbonView, tick: RibbonView['ticks'][number], at: number): Html {
  const isEnd = at === ticks.length - 1;
  // In the middle of its number: a bar of a few batches has wide ones.
  const x = percent(tick.height - window.from + 0.5, window.to - window.from + 1);
  const anchor = at === 0 ? 'start' : isEnd ? 'end' : 'middle';
  const kind = at % 2 === 1 ? 'minor' : 'major';
  return html`<g class="${kind}"
    ><line x1="${x}" x2="${x}" y1="0" y2="4"></line
    ><text x="${x}" y="17" text-anchor="${anchor}">${whole(tick.height)}</text>${
      tick.at === null
        ? ''
        : html`<text x="${x}" y="32" text-anchor="${anchor}" class="at">${moment(tick.at)}</text>`
    }</g
  >`;
}
