import type { WindowLength } from '../../time-window.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';

/** How far back a chart looks, and how fine. */
export interface Span extends WindowLength {
  readonly name: 'hour' | 'day' | 'month';
  readonly label: string;
  /** How much one row of the table of numbers tells of, and one place to point at. */
  readonly stepSeconds: number;
}

/** Minutes are thinned to quarters of an hour after a day: no bin of what is longer may be narrower. */
export const spans: Readonly<Record<Span['name'], Span>> = {
  hour: { name: 'hour', label: '1 hour', seconds: 3600, binSeconds: 60, stepSeconds: 120 },
  day: { name: 'day', label: '24 hours', seconds: 86_400, binSeconds: 900, stepSeconds: 3600 },
  month: {
    name: 'month',
    label: '30 days',
    seconds: 30 * 86_400,
    binSeconds: 21_600,
    stepSeconds: 86_400,
  },
};

/** The span that a query names, or else a day. */
export function chosenSpan(query: URLSearchParams, parameter: string): Span {
  const name = query.get(parameter);
  return Object.values(spans).find((span) => span.name === name) ?? spans.day;
}

/** What a reader chooses another span of a panel with. */
export interface SpanChoice {
  readonly panel: string;
  readonly query: URLSearchParams;
  readonly chosen: Span;
  readonly offered: readonly Span[];
}

/** A link to each span that a panel offers. */
export const spanLinks = ({ panel, query, chosen, offered }: SpanChoice): Html =>
  html`<p class="choice">
    ${offered.map(
      (span) =>
        html`<a
          href="${link(query, { [`${panel}-span`]: span.name })}"
          data-panel="${panel}"
          aria-current="${span === chosen ? 'true' : 'false'}"
          >${span.label}</a
        >`,
    )}
  </p>`;
