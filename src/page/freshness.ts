import type { StatusDocument } from '../documents/status.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { chart } from './charts/chart.ts';
import { holePattern } from './charts/figure.ts';
import { timeAxis } from './charts/time.ts';
import { detail } from './freshness/detail.ts';
import {
  feedsShown,
  holes,
  nameOf,
  type Feed,
  type FreshnessFacts,
  type FreshnessPast,
} from './freshness/facts.ts';
import { sparkMarks, worstOf } from './freshness/lines.ts';
import { html, type Html } from './html.ts';
import { link } from './link.ts';

const sparkHeight = 28;

/** How current each list is, and was. */
export function freshness(facts: FreshnessFacts): Html {
  const { status, query, feeds, day, month } = facts;
  if (status.feeds.length === 0) return html`<p>Nothing was ever read.</p>`;
  const chosen = feeds.find(({ feed }) => feed === query.get('freshness-feed'));
  const isNoted = day.feeds.size + month.feeds.size > 0;
  return html`${summary(status)} ${holePattern(holes)}
    <ul class="freshness">
      <li class="heads quiet" aria-hidden="true">
        <span></span><span></span><span>${day.span.label}</span><span>${month.span.label}</span>
      </li>
      ${feeds.map((feed) => row(feed, facts))}
      <li class="heads" aria-hidden="true">
        <span></span><span></span>${timeAxis(day.window)}${timeAxis(month.window)}
      </li>
    </ul>
    ${pages(facts)}
    <p class="quiet">
      ${
        isNoted
          ? 'The line is the time since the last look at the head of the list; the level in the middle is the objective, ten times as much is at the top, a tenth at the bottom. Hatched: nobody worked.'
          : 'There is no history yet: whoever works notes it once a minute.'
      }
    </p>
    ${chosen === undefined ? '' : detail(chosen, facts)}`;
}

/** How many are looked at in time, which are not, and which list nothing new. */
function summary({ feeds }: StatusDocument): Html {
  const silent = feeds.filter(({ data }) => data?.is_met === false);
  if (silent.length === 0) return looks(feeds);
  return html`${looks(feeds)}
    <p class="bad">
      ${counted(silent.length, 'list')} ${silent.length === 1 ? 'has' : 'have'} no new items for far
      longer than usual: ${someOf(silent)}.
    </p>`;
}

function looks(feeds: readonly Feed[]): Html {
  const judged = feeds.filter(({ freshness: { is_met } }) => is_met !== null);
  const late = judged.filter(({ freshness: { is_met } }) => is_met === false);
  if (judged.length === 0) return html`<p>No list is to be looked at by a time yet.</p>`;
  if (late.length === 0) {
    const [number, all] = [whole(judged.length), whole(feeds.length)];
    const are =
      judged.length < feeds.length
        ? `${number} of ${all} lists are looked at in time, the others are not judged now`
        : `${feeds.length === 1 ? 'The list is' : `All ${number} lists are`} looked at in time`;
    return html`<p class="good">${are}.</p>`;
  }
  return html`<p class="bad">
    ${counted(late.length, 'list')} of ${whole(judged.length)} ${late.length === 1 ? 'is' : 'are'}
    late: ${someOf(late)}.
  </p>`;
}

const mostNamed = 4;

function someOf(feeds: readonly Feed[]): string {
  const named = feeds.slice(0, mostNamed).map(nameOf).join(', ');
  const others = feeds.length - mostNamed;
  return `${named}${others > 0 ? ` and ${whole(others)} more` : ''}`;
}

function row(feed: Feed, { status, query, day, month }: FreshnessFacts): Html {
  const isChosen = query.get('freshness-feed') === feed.feed;
  return html`<li>
    <a
      class="name"
      href="${link(query, { 'freshness-feed': isChosen ? null : feed.feed })}"
      data-panel="freshness"
      aria-expanded="${isChosen ? 'true' : 'false'}"
      >${nameOf(feed)}</a
    >
    <span class="words">${words(feed)}</span>
    ${[day, month].map((past) => spark(feed, past, Date.parse(status.as_of)))}
  </li>`;
}

/** The present, in words. */
function words({ freshness: { age_s, objective, is_met }, data, lag_s }: Feed): Html {
  const newest = lag_s === null ? 'nothing stored' : `newest ${duration(lag_s)} old`;
  const age = age_s === null ? 'no look yet' : `looked ${duration(age_s)} ago`;
  const bound =
    objective === null ? 'nothing is to come' : `objective ${duration(objective.seconds)}`;
  const late = is_met === false;
  return html`<span class="${late ? 'bad' : ''}">${late ? 'late: ' : ''}${age}</span>
    <span class="quiet"
      >${bound} · <span class="${data?.is_met === false ? 'bad' : ''}">${newest}</span></span
    >`;
}

function spark(feed: Feed, { span, window, feeds }: FreshnessPast, at: number): Html {
  const bins = feeds.get(feed.feed) ?? [];
  const { marks, stretches } = sparkMarks(window, bins, { height: sparkHeight, at });
  return chart({
    window,
    height: sparkHeight,
    label: `${nameOf(feed)}, ${span.label}: ${worstOf(bins, stretches)}`,
    marks,
    levels: [{ y: sparkHeight / 2, label: '' }],
    holes: { stretches, pattern: holes },
  });
}

/** Links to the feeds before and after those that are shown. */
function pages({ status, query, feeds, skipped }: FreshnessFacts): Html {
  const end = skipped + feeds.length;
  const all = status.feeds.length;
  if (feeds.length === all) return html``;
  const to = (first: number, text: string) =>
    html`<a href="${link(query, { 'freshness-from': first })}" data-panel="freshness">${text}</a>`;
  return html`<p class="choice">
    Lists ${whole(skipped + 1)} to ${whole(end)} of ${whole(all)}
    ${skipped > 0 ? to(Math.max(0, skipped - feedsShown), 'those before') : ''}
    ${end < all ? to(end, 'those after') : ''}
  </p>`;
}
