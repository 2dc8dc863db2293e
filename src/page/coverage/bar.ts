import { html, type Html } from '../html.ts';
import { placeOf, ticksOf, timesOf } from './axis.ts';
import type { FeedFacts, PartState, RibbonFacts, SegmentFacts } from './facts.ts';
import { heights, minute, whatIs, whoRead } from './words.ts';
import { windowLink } from './zoom.ts';

/** What a state is filled with: a pattern, because a colour alone says nothing to many. */
export const fillOf = (state: PartState): string => `url(#coverage-${state})`;

/** The patterns of all bars, once in a page. */
export const patterns = (): Html =>
  html`<svg class="coverage-patterns" width="0" height="0" aria-hidden="true" focusable="false">
    <defs>
      ${pattern('proved', html``)} ${pattern('gap', html`<path d="M0 0 8 8M8 0 0 8" />`)}
      ${pattern('held', html`<circle cx="4" cy="4" r="2.2" />`)}
      ${pattern('flight', html`<path d="M-2 2 2-2M0 8 8 0M6 10 10 6" />`)}
      ${pattern('waiting', html`<path d="M0 2h8M0 6h8" />`)}
      ${pattern('unknown', html`<path d="M-2 6 2 10M0 0 8 8M6-2 10 2" />`)}
      ${pattern('unwanted', html`<circle cx="4" cy="4" r="0.9" />`)}
    </defs>
  </svg>`;

const pattern = (state: PartState, marks: Html): Html =>
  html`<pattern
    id="coverage-${state}"
    class="coverage-${state}"
    width="8"
    height="8"
    patternUnits="userSpaceOnUse"
  >
    <rect width="8" height="8" />${marks}
  </pattern>`;

/** The bar of a list, each stretch a link that looks at it more closely. */
export function bar(feed: FeedFacts, ribbon: RibbonFacts, query: URLSearchParams): Html {
  const ticks = ticksOf(ribbon);
  return html`<svg
    class="coverage-bar"
    width="100%"
    height="38"
    role="group"
    aria-label="${feed.chain} ${feed.list}, ${heights(ribbon.window, feed.unit)}"
  >
    ${ticks.map(
      ({ place, label, isMajor }) =>
        html`<g class="${isMajor ? 'tick' : 'tick minor'}" aria-hidden="true"
          ><line x1="${percent(place)}" x2="${percent(place)}" y1="20" y2="24"></line
          ><text x="${percent(place)}" y="35">${label}</text></g
        >`,
    )}
    <rect class="frame" x="0" y="1" width="100%" height="18"></rect>
    ${ribbon.segments.map((segment) => stretch(segment, feed, ribbon, query))}
  </svg>`;
}

function stretch(
  segment: SegmentFacts,
  feed: FeedFacts,
  ribbon: RibbonFacts,
  query: URLSearchParams,
): Html {
  const [from, to] = [placeOf(segment.from, ribbon.window), placeOf(segment.to + 1, ribbon.window)];
  const lines = told(segment, feed, ribbon);
  return html`<a
    href="${windowLink(query, feed.feed, segment)}"
    data-panel="coverage"
    aria-label="${lines.join('. ')}"
    ><rect
      class="stretch"
      x="${percent(from)}"
      y="1"
      width="${percent(to - from)}"
      height="18"
      fill="${fillOf(segment.state)}"
    ></rect
    ><foreignObject class="tip" x="0" y="22" width="100%" height="1" aria-hidden="true"
      ><div class="card">${lines.map((line) => html`<p>${line}</p>`)}</div></foreignObject
    ></a
  >`;
}

/** All that is said of a segment, a line each. */
export function told(segment: SegmentFacts, feed: FeedFacts, { points }: RibbonFacts): string[] {
  const { from, to } = timesOf(segment, points);
  const times = [from, to].flatMap((at) => (at === null ? [] : [minute(at)]));
  return [
    whatIs(segment, feed),
    heights(segment, feed.unit),
    ...(from === null || to === null
      ? times.map((time) => `${from === null ? 'up to' : 'from'} about ${time} UTC`)
      : [`about ${minute(from)} to ${minute(to)} UTC`]),
    ...(segment.witnesses === null ? [] : [whoRead(segment.witnesses)]),
  ];
}

const percent = (share: number): string => `${Number(share.toFixed(4))}%`;
