import { command } from '../command.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import { counted, whole } from '../../terminal/numbers.ts';
import { timesOf } from './axis.ts';
import { bar, fillOf, patterns, told } from './bar.ts';
import type {
  CoverageFacts,
  FeedFacts,
  GapFacts,
  Heights,
  Mending,
  PartState,
  RibbonFacts,
  SegmentFacts,
  Span,
} from './facts.ts';
import { amount, heights, minute, stateNames } from './words.ts';
import { moves, windowLink } from './zoom.ts';

const spans: readonly (readonly [span: Span | null, label: string])[] = [
  [null, 'All'],
  ['week', '1 week'],
  ['day', '1 day'],
  ['hour', '1 hour'],
];

/** What of each list is proved complete, and what is not. Pure. */
export function coverage(facts: CoverageFacts): Html {
  if (facts.feeds.length === 0) return html`<p class="quiet">Nothing was asked for yet.</p>`;
  return html`${patterns()}
    <div class="coverage-head">
      <p class="coverage-spans" role="group" aria-label="How much is shown">
        ${spans.map(([span, label]) => spanLink(facts, span, label))}
      </p>
      ${legend(facts)}
    </div>
    <div class="coverage-feeds">${facts.feeds.map((feed) => row(feed, facts))}</div>`;
}

function spanLink({ query, span, chosen }: CoverageFacts, own: Span | null, label: string): Html {
  const href = link(query, {
    'coverage-span': own,
    'coverage-feed': null,
    'coverage-from': null,
    'coverage-to': null,
  });
  const isShown = span === own && chosen === null;
  return html`<a href="${href}" data-panel="coverage" aria-current="${String(isShown)}"
    >${label}</a
  >`;
}

/** The states that are to be seen, and what a bar is made of at best. */
function legend({ feeds }: CoverageFacts): Html {
  const seen = new Set<PartState>([
    'proved',
    'flight',
    'gap',
    ...feeds.flatMap(({ ribbon }) => ribbon?.segments.map(({ state }) => state) ?? []),
  ]);
  const shown = (Object.keys(stateNames) as PartState[]).filter((state) => seen.has(state));
  return html`<ul class="coverage-legend" aria-label="Legend">
    ${shown.map(
      (state) =>
        html`<li>
          <svg width="18" height="10" aria-hidden="true">
            <rect width="18" height="10" rx="2" fill="${fillOf(state)}"></rect></svg
          >${stateNames[state]}
        </li>`,
    )}
  </ul>`;
}

function row(feed: FeedFacts, facts: CoverageFacts): Html {
  const { ribbon, census } = feed;
  const isChosen = facts.chosen === feed.feed;
  return html`<div class="${isChosen ? 'coverage-feed chosen' : 'coverage-feed'}">
    <h3>${feed.chain} <span>${feed.list}</span></h3>
    <p class="share">${feed.share}</p>
    <div class="drawn">
      ${
        ribbon === null
          ? html`<p class="${census?.asOf ? 'census read' : 'census'}">${without(feed)}</p>`
          : [
              bar(feed, ribbon, facts.query),
              steps(feed, ribbon, facts),
              more(feed, ribbon, isChosen),
            ]
      }
    </div>
  </div>`;
}

/** What is said where there is no bar. */
const without = ({ census }: FeedFacts): string => {
  if (census === null) return 'nothing is known of it yet';
  return census.asOf === null
    ? 'never read whole'
    : `census of ${whole(census.count)}, as of ${minute(census.asOf)} UTC`;
};

/** Where one can go from what is shown. */
function steps(feed: FeedFacts, ribbon: RibbonFacts, { query }: CoverageFacts): Html {
  const { older, newer, in: nearer, out } = moves(ribbon.window, ribbon.whole);
  const step = (target: Heights | null, sign: string, what: string): Html =>
    target === null
      ? html`<span class="step" aria-hidden="true">${sign}</span>`
      : html`<a
          class="step"
          href="${windowLink(query, feed.feed, target)}"
          data-panel="coverage"
          aria-label="${what}: ${feed.chain} ${feed.list}"
          title="${what}"
          >${sign}</a
        >`;
  return html`<p class="coverage-steps">
    ${step(older, '←', 'Older')}${step(newer, '→', 'Newer')}
    ${step(out, '−', 'Zoom out')}${step(nearer, '+', 'Zoom in')}
  </p>`;
}

/** What is missing and how it is read, and behind that the bar as a table. */
function more(feed: FeedFacts, ribbon: RibbonFacts, isChosen: boolean): Html {
  const { gaps, below, segments } = ribbon;
  const label = `Segments of ${feed.chain} ${feed.list}`;
  return html`<details ${isChosen ? html`open` : html``}>
      <summary>${summary(feed, ribbon)}</summary>
      ${gaps.length > mostInSight ? gapList(feed, gaps.slice(mostInSight)) : html``}
      ${below === null ? html`` : html`<p>Older than all that was read: ${mending(below)}</p>`}
      <div class="scrolls" tabindex="0" role="region" aria-label="${label}">
        <table>
          <caption class="visually-hidden">
            What the bar shows
          </caption>
          <tbody>
            ${segments.slice(0, mostRows).map((segment) => segmentRow(segment, feed, ribbon))}
          </tbody>
        </table>
      </div>
      ${
        segments.length > mostRows
          ? html`<p class="quiet">
              and ${counted(segments.length - mostRows, 'segment')} more: zoom in
            </p>`
          : html``
      }
    </details>
    ${gaps.length === 0 ? html`` : gapsInSight(feed, ribbon)}`;
}

/** A longer table is no help; the bar shows all. */
const mostRows = 30;
/** So many gaps have their command in sight; the others are in the details. */
const mostInSight = 3;

function segmentRow(segment: SegmentFacts, feed: FeedFacts, ribbon: RibbonFacts): Html {
  const [what, where, ...rest] = told(segment, feed, ribbon);
  return html`<tr>
    <th scope="row">${where ?? ''}</th>
    <td>${what ?? ''}</td>
    <td class="quiet">${rest.join('; ')}</td>
  </tr>`;
}

/** What is shown, and what of it is not proved. */
function summary(feed: FeedFacts, { window, amounts, points }: RibbonFacts): Html {
  const { from, to } = timesOf(window, points);
  const known = [
    heights(window, feed.unit),
    ...(from === null || to === null ? [] : [`${minute(from)} to ${minute(to)} UTC`]),
  ];
  const open = amounts.flatMap(({ state, count, ranges }) => {
    if (state === 'gap') return [`${counted(ranges, 'gap')}, ${amount(count, feed.unit)}`];
    const isTold = state === 'held' || state === 'flight' || state === 'waiting';
    return isTold ? [`${amount(count, feed.unit)} ${stateNames[state]}`] : [];
  });
  return html`${known.join(' · ')}${open.map((text) => html` · <strong>${text}</strong>`)}`;
}

function gapsInSight(feed: FeedFacts, { gaps, amounts }: RibbonFacts): Html {
  const all = amounts.find(({ state }) => state === 'gap')?.ranges ?? gaps.length;
  const hidden = all - Math.min(mostInSight, gaps.length);
  return html`${gapList(feed, gaps.slice(0, mostInSight))}
  ${hidden > 0 ? html`<p class="quiet">and ${counted(hidden, 'older gap')}</p>` : html``}`;
}

const gapList = (feed: FeedFacts, gaps: readonly GapFacts[]): Html =>
  html`<ul class="coverage-gaps">
    ${gaps.map(
      (gap) =>
        html`<li>
          <span
            ><svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill="${fillOf('gap')}"></rect></svg
            >${heights(gap, feed.unit)}</span
          >
          ${mending(gap)}
        </li>`,
    )}
  </ul>`;

const mending = ({ command: text, cost }: Mending): Html =>
  html`${cost === null ? html`` : html`<span class="quiet">${cost}</span>`} ${command(text)}`;
