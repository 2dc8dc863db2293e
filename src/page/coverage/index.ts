import { command } from '../command.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import { counted, whole } from '../../terminal/numbers.ts';
import { bar, zoomOf } from './bar.ts';
import type { CensusView, CoverageView, RibbonView, SegmentView } from './view.ts';
import {
  asOf,
  costOf,
  extentOf,
  moment,
  rangeOf,
  stateNames,
  stateOf,
  timesOf,
  walksOf,
} from './words.ts';

export interface CoverageFacts {
  readonly views: readonly CoverageView[];
  readonly query: URLSearchParams;
  readonly creditsPerPage: number;
}

/** Spans of time that can be chosen: the newest of each list. */
const spans = { hour: '1 hour', day: '1 day', week: '1 week' } as const;

/** What of each list is proved, drawn. Pure. */
export const coverage = (facts: CoverageFacts): Html =>
  html`${patterns}
    <div class="coverage-head">${legend}${zoom(facts.query)}</div>
    ${
      facts.views.length === 0
        ? html`<p class="quiet">No list was ever read.</p>`
        : facts.views.map((view) => feedOf(view, facts))
    }`;

/** Each state has a pattern of its own: colour alone tells nothing to many. */
const patterns = html`<svg class="patterns" aria-hidden="true" width="0" height="0">
  <defs>
    <pattern
      id="coverage-hatch"
      width="7"
      height="7"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <line x1="0" y1="0" x2="0" y2="7" stroke-width="3"></line>
    </pattern>
    <pattern id="coverage-cross" width="6" height="6" patternUnits="userSpaceOnUse">
      <path d="M0 0L6 6M6 0L0 6" stroke-width="1.2"></path>
    </pattern>
    <pattern id="coverage-steps" width="10" height="10" patternUnits="userSpaceOnUse">
      <path d="M7 1L3 5L7 9" fill="none" stroke-width="1.4"></path>
    </pattern>
    <pattern id="coverage-dots" width="6" height="6" patternUnits="userSpaceOnUse">
      <circle cx="3" cy="3" r="1.3"></circle>
    </pattern>
  </defs>
</svg>`;

const shown = [
  'proved',
  'reading',
  'waiting',
  'missing',
  'doubtful',
  'unknown',
  'unwanted',
] as const;

const legend = html`<ul class="legend">
  ${shown.map(
    (state) =>
      html`<li>
        <svg width="22" height="12" aria-hidden="true">
          <rect class="fill ${state}" width="22" height="12" rx="2"></rect>
          <rect class="pattern ${state}" width="22" height="12" rx="2"></rect>
        </svg>
        ${stateNames[state]}
      </li>`,
  )}
</ul>`;

function zoom(query: URLSearchParams): Html {
  const all = { 'coverage-feed': null, 'coverage-from': null, 'coverage-to': null };
  const isAll = query.get('coverage-span') === null && query.get('coverage-from') === null;
  const choice = (name: string, span: string | null, isChosen: boolean) =>
    html`<a
      href="${link(query, { ...all, 'coverage-span': span })}"
      data-panel="coverage"
      ${isChosen ? html`aria-current="true"` : ''}
      >${name}</a
    >`;
  return html`<nav class="zoom" aria-label="Span of the ribbons">
    ${Object.entries(spans).map(([span, name]) =>
      choice(name, span, query.get('coverage-span') === span),
    )}
    ${choice('All', null, isAll)}
  </nav>`;
}

const feedOf = (view: CoverageView, facts: CoverageFacts): Html =>
  html`<article class="ribbon-feed" id="coverage-${view.feed.replace('/', '-')}">
    <header>
      <h3>${view.chain} <span>${view.list}</span></h3>
      <p class="share">${view.share}</p>
    </header>
    ${bodyOf(view, facts)}
  </article>`;

function bodyOf(view: CoverageView, facts: CoverageFacts): Html {
  if (view.kind === 'ribbon') return ribbon(view, facts);
  if (view.kind === 'census') return census(view);
  return html`<svg class="ribbon" aria-hidden="true" height="26" width="100%">
      <rect class="fill unknown" y="3" width="100%" height="20"></rect>
      <rect class="pattern unknown" y="3" width="100%" height="20"></rect>
    </svg>
    <p class="quiet">Nothing of it was read yet.</p>`;
}

const census = ({ asOf: at, factories }: CensusView): Html =>
  html`<svg class="ribbon" aria-hidden="true" height="26" width="100%">
      <rect
        class="fill ${at === null ? 'unknown' : 'proved'}"
        y="3"
        width="100%"
        height="20"
      ></rect>
      <rect
        class="pattern ${at === null ? 'unknown' : 'proved'}"
        y="3"
        width="100%"
        height="20"
      ></rect>
    </svg>
    <p class="quiet">
      ${
        at === null
          ? 'Never read whole.'
          : `Census of ${counted(factories, 'factory', 'factories')}, as of ${moment(at)}. It is read whole each time, so it has no ranges.`
      }
    </p>`;

/** So many holes have their command in sight; the table has all. */
const mostTold = 3;

function ribbon(view: RibbonView, facts: CoverageFacts): Html {
  const mended = view.segments
    .filter(({ state, command: text }) => text !== null && state !== 'unknown')
    .toSorted((one, other) => other.numbers - one.numbers);
  const isZoomed = view.window.from !== view.whole.from || view.window.to !== view.whole.to;
  return html`${bar(view, facts.query)} ${isZoomed ? outward(view, facts.query) : ''}
    ${mended.slice(0, mostTold).map((segment) => hole(view, segment, facts))}
    ${
      mended.length > mostTold
        ? html`<p class="quiet">and ${whole(mended.length - mostTold)} more places, below.</p>`
        : ''
    }
    <details>
      <summary>${summary(view)}</summary>
      <div
        class="scrolls"
        tabindex="0"
        role="region"
        aria-label="Ranges of ${view.chain} ${view.list}"
      >
        <table>
          <thead>
            <tr>
              <th scope="col">${view.unit === 'block' ? 'Blocks' : 'Batches'}</th>
              <th scope="col">State</th>
              <th scope="col">Holds</th>
              <th scope="col">Times</th>
              <th scope="col">As of</th>
              <th scope="col">By</th>
              <th scope="col"><span class="visually-hidden">Closer</span></th>
            </tr>
          </thead>
          <tbody>
            ${view.segments.toReversed().map((segment) => row(view, segment, facts))}
          </tbody>
        </table>
      </div>
    </details>`;
}

const hole = (view: RibbonView, segment: SegmentView, { creditsPerPage }: CoverageFacts): Html =>
  html`<p class="hole">
    <span
      ><svg width="10" height="10" aria-hidden="true">
        <rect class="fill ${segment.state}" width="10" height="10" rx="2"></rect>
      </svg>
      ${rangeOf(view.unit, segment.from, segment.to)} ${stateNames[segment.state]}
      <span class="quiet"
        >(${extentOf(view.unit, segment)}; ${costOf(segment, creditsPerPage)})</span
      ></span
    >
    ${segment.command === null ? '' : command(segment.command)}
  </p>`;

const row = (
  view: RibbonView,
  segment: SegmentView,
  { query, creditsPerPage }: CoverageFacts,
): Html =>
  html`<tr>
    <th scope="row">
      ${whole(segment.from)}${segment.to === segment.from ? '' : ` to ${whole(segment.to)}`}
    </th>
    <td>
      <span class="state ${segment.state}">${stateOf(view, segment)}</span>
      ${segment.command === null ? '' : html`<br />${costOf(segment, creditsPerPage)}: ${command(segment.command)}`}
    </td>
    <td>${extentOf(view.unit, segment)}</td>
    <td>${timesOf(segment)}</td>
    <td>${asOf(segment)}</td>
    <td>${walksOf(segment)}</td>
    <td>
      <a
        href="${zoomOf(view, segment, query)}"
        data-panel="coverage"
        aria-label="Look closer at ${rangeOf(view.unit, segment.from, segment.to)}"
        >Closer</a
      >
    </td>
  </tr>`;

/** The way back out of a window of one feed: twice as much, or all. */
function outward(view: RibbonView, query: URLSearchParams): Html {
  const { window } = view;
  const half = Math.max(1, Math.ceil((window.to - window.from + 1) / 2));
  return html`<p class="outward">
    <span class="quiet">${rangeOf(view.unit, window.from, window.to)}</span>
    <a
      href="${zoomOf(view, { from: window.from - half, to: window.to + half }, query)}"
      data-panel="coverage"
      >Zoom out</a
    >
    <a
      href="${link(query, { 'coverage-feed': null, 'coverage-from': null, 'coverage-to': null, 'coverage-span': null })}"
      data-panel="coverage"
      >Show all</a
    >
  </p>`;
}

/** The ribbon in a line: how many ranges there are of each state. */
function summary({ segments }: RibbonView): string {
  const groups = Map.groupBy(segments, ({ state }) => state);
  return [...groups]
    .map(([state, ones]) => `${counted(ones.length, 'range')} ${stateNames[state]}`)
    .join(', ');
}
