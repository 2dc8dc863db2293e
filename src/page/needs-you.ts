import { counted, duration, whole } from '../terminal/numbers.ts';
import type { Advice } from '../words/status-advice.ts';
import { command } from './command.ts';
import { foreign, foreignLines } from './foreign.ts';
import { html, type Html } from './html.ts';
import { moment } from './moment.ts';

/** The newest of some things, and how many there are. */
export interface Newest<Thing> {
  readonly count: number;
  /** Nobody counted further. */
  readonly isAtLeast: boolean;
  readonly newest: readonly Thing[];
}

/** An item that is no row. */
export interface WaitingItem {
  readonly id: number;
  readonly feed: string;
  readonly reason: string;
  readonly page_id: number;
  readonly first_seen_at: string;
  /** The beginning of its JSON, and how long that is. */
  readonly raw: string;
  readonly raw_length: number;
}

/** A block that another one took the place of. */
export interface ReplacedBlock {
  readonly chain_id: number;
  readonly height: number;
  readonly old_hash: string;
  readonly new_hash: string;
  readonly observed_at: string;
}

/** An item that came to where its list had been complete. */
export interface LateItem {
  readonly feed: string;
  readonly key: string;
  /** By how much, in seconds. Null: it tells no time. */
  readonly late_s: number | null;
  readonly seen_at: string;
}

/** What somebody should look at. */
export interface Needs {
  /** How many feeds were looked at. */
  readonly feeds: number;
  readonly advice: readonly Advice[];
  readonly quarantine: Newest<WaitingItem>;
  readonly drift: readonly { readonly feed: string; readonly notes: readonly string[] }[];
  /** So many days back, of what needs nobody. */
  readonly days: number;
  readonly reorgs: Newest<ReplacedBlock>;
  readonly late: Newest<LateItem>;
}

type Called = (command: string) => string;

/** What waits for somebody, and what should be known: each a sentence and a command. */
export function needsYou(needs: Needs, called: Called): Html {
  const { feeds, advice, quarantine, days } = needs;
  const needed = [
    ...advice.map((one) => advised(one, called)),
    ...(quarantine.count === 0 ? [] : [quarantined(quarantine, called)]),
  ];
  const known = worthKnowing(needs, called);
  return html`${
    needed.length === 0
      ? html`<p class="good">Nothing needs you.</p>
          <p class="quiet">
            Looked at: ${counted(feeds, 'feed')}, quarantine, drift, and the replaced blocks and
            late arrivals of the last ${counted(days, 'day')}.
          </p>`
      : html`<ul class="needs">
          ${needed}
        </ul>`
  }
  ${
    known.length === 0
      ? ''
      : html`<h3>Worth knowing</h3>
          <ul class="needs">
            ${known}
          </ul>`
  }`;
}

/** Feeds that are named in a sentence; the others are counted. */
const mostNamed = 3;

const named = (feeds: readonly string[]): Html => {
  const rest = feeds.length - mostNamed;
  return html`<strong>${foreign(feeds.slice(0, mostNamed).join(', '))}</strong>${
      rest > 0 ? ` and ${counted(rest, 'more feed')}` : ''
    }`;
};

/** A sentence has this many characters at most: reasons are told by the service. */
const longestReason = 300;

const advised = ({ feeds, text, todo, command: next }: Advice, called: Called): Html =>
  html`<li>
    <p>
      ${feeds.length === 0 ? '' : html`${named(feeds)}: `}${foreign(text, longestReason)}.
      ${todo === null ? '' : called(todo)}
    </p>
    ${next === null ? '' : command(called(next))}
  </li>`;

function quarantined({ count, isAtLeast, newest }: Newest<WaitingItem>, called: Called): Html {
  return html`<li>
    <p>
      <strong>Quarantine:</strong> ${counted(count, 'item')}${isAtLeast ? ' or more' : ''} could not
      become rows${newest.length < count ? html`, the newest ${newest.length} below` : ''}. After an
      upgrade, retry them; else see what is wrong with each.
    </p>
    ${command(called('explorer-etl quarantine list'))}
    ${command(called('explorer-etl quarantine retry'))}
    <ul>
      ${newest.map(
        ({ id, feed, reason, page_id, first_seen_at, raw, raw_length }) =>
          html`<li id="needs-you-item-${id}">
            ${foreign(feed)}, item ${id}: ${foreign(reason, longestReason)}
            <span class="quiet">page ${page_id}, ${moment(first_seen_at)}</span>
            ${foreignLines(`Item ${id} as served`, raw, raw_length)}
          </li>`,
      )}
    </ul>
  </li>`;
}

const listOf = <Thing>(
  { newest, count, isAtLeast }: Newest<Thing>,
  {
    id,
    sentence,
    next,
    line,
  }: { id: string; sentence: string; next: string; line: (thing: Thing) => Html },
): readonly Html[] =>
  count === 0
    ? []
    : [
        html`<li>
          <p>${isAtLeast ? 'At least ' : ''}${sentence}</p>
          ${command(next)}
          <details id="needs-you-${id}">
            <summary>The newest${newest.length < count ? ` ${newest.length}` : ''}</summary>
            <ul>
              ${newest.map((thing) => html`<li>${line(thing)}</li>`)}
            </ul>
          </details>
        </li>`,
      ];

const newestReplaced =
  "explorer-etl query 'select * from explorer.block_reorgs order by observed_at desc limit 100'";

function worthKnowing({ drift, reorgs, late, days }: Needs, called: Called): readonly Html[] {
  const since = `in the last ${counted(days, 'day')}`;
  return [
    ...drifted(drift, called),
    ...listOf(reorgs, {
      id: 'replaced',
      sentence: `${counted(reorgs.count, 'block')} got another hash ${since}. The newest is kept; nothing to do.`,
      next: called(newestReplaced),
      line: ({ chain_id, height, old_hash, new_hash, observed_at }) =>
        html`chain ${chain_id}, block ${height}: <code>${foreign(old_hash, 18)}</code> gave way to
          <code>${foreign(new_hash, 18)}</code> <span class="quiet">${moment(observed_at)}</span>`,
    }),
    ...listOf(late, {
      id: 'late',
      sentence: `${counted(late.count, 'item')} came late to where the list was complete, ${since}. They are stored; a longer overlap finds such items sooner.`,
      next: called('explorer-etl query late-arrivals'),
      line: ({ feed, key, late_s, seen_at }) =>
        html`${foreign(feed)}, <code>${foreign(key, 18)}</code>${
            late_s === null ? '' : `: ${duration(late_s)} late`
          } <span class="quiet">${moment(seen_at)}</span>`,
    }),
  ];
}

/** Feeds, and of each ways to differ, that are told of; the others are counted. */
const mostDrifting = 6;
const mostWays = 4;

function drifted(drift: Needs['drift'], called: Called): readonly Html[] {
  if (drift.length === 0) return [];
  const all = drift.reduce((sum, { notes }) => sum + notes.length, 0);
  const rest = drift.length - mostDrifting;
  return [
    html`<li>
      <p>
        ${named(drift.map(({ feed }) => feed))}: items differ from the specification in
        ${counted(all, 'way')}. They are stored, and nothing is lost.
      </p>
      ${command(called('explorer-etl verify'))}
      <details id="needs-you-drift">
        <summary>How they differ</summary>
        <ul>
          ${drift.slice(0, mostDrifting).flatMap(waysOf)}
          ${rest > 0 ? html`<li class="quiet">and ${counted(rest, 'feed')} more</li>` : ''}
        </ul>
      </details>
    </li>`,
  ];
}

function waysOf({ feed, notes }: Needs['drift'][number]): readonly Html[] {
  const rest = notes.length - mostWays;
  return [
    ...notes
      .slice(0, mostWays)
      .map((way) => html`<li>${foreign(feed)}: ${foreign(way, longestReason)}</li>`),
    ...(rest > 0 ? [html`<li class="quiet">${foreign(feed)}: ${whole(rest)} more</li>`] : []),
  ];
}
