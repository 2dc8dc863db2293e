import { counted, duration } from '../../terminal/numbers.ts';
import { foreign, foreignLines } from '../foreign.ts';
import { html, type Html } from '../html.ts';
import { moment } from '../moment.ts';
import type { Archived, Change, Explained, Origin, Term } from './facts.ts';

/** A hash is whole for whoever copies or hears it; shown is its beginning. */
const hash = (text: string): Html =>
  html`<code class="${/^(?:0x)?[\da-f]{20,}$/u.test(text) ? 'hash' : ''}">${foreign(text)}</code>`;

/**
 * One row: since when it is there, which page and walk brought it, and what changed it since.
 *
 * @param isPageKnown whether a row above tells of the same page
 */
export function explainedRow(row: Explained, { value }: Term, isPageKnown: boolean): Html {
  const { table, column, key, fields, origin, archived, page_id } = row;
  const isKey = column in key;
  return html`<article class="why-row">
    <h3>
      ${table}
      ${Object.entries(key).map(
        ([name, part]) => html`<span class="quiet">${name}</span> ${hash(String(part))} `,
      )}
    </h3>
    ${isKey ? '' : html`<p class="quiet">Found by ${column} ${hash(value)}.</p>`}
    <dl class="reasons">
      <dt>Stored</dt>
      <dd>${since(row)}</dd>
      ${
        origin === null
          ? html`<dt>Page</dt>
              <dd>${page_id}, which the ledger does not have.</dd>`
          : isPageKnown
            ? html`<dt>Page</dt>
                <dd>${page_id} of walk ${origin.walk_id}, as above.</dd>`
            : broughtBy(origin)
      }
      ${
        row.changes.length === 0
          ? ''
          : html`<dt>Since then</dt>
              ${row.changes.map((change) => html`<dd>${changed(change)}</dd>`)}`
      }
    </dl>
    <details>
      <summary>The row</summary>
      <dl class="columns">
        ${fields.map(
          ([name, text]) =>
            html`<dt>${name}</dt>
              <dd>
                ${
                  text === null
                    ? html`<span class="quiet">null</span>`
                    : html`<code>${foreign(text, longestField)}</code>`
                }
              </dd>`,
        )}
      </dl>
    </details>
    ${isPageKnown && archived.is === 'not-kept' ? '' : item(archived)}
  </article>`;
}

/** Characters of a value: one more is read, so that a cut is seen. */
const longestField = 300;

function since({ first_seen_at, updated_at, removed_at, page_id }: Explained): Html {
  const isSame = first_seen_at === updated_at;
  return html`first ${moment(first_seen_at)},
  ${isSame ? 'and not changed since' : html`last changed ${moment(updated_at)} by page ${page_id}`}.
  ${removed_at === null ? '' : html`<strong>It left its list ${moment(removed_at)}.</strong>`}`;
}

function broughtBy(origin: Origin): Html {
  const { page_id, sequence, cursor_in, fetched_at, latency_ms, credits, attempts, items } = origin;
  const { inserted, changed: altered, quarantined, body_hash } = origin;
  return html`<dt>Page</dt>
    <dd>
      ${page_id}, number ${sequence + 1} of its walk, asked for ${moment(fetched_at)}; answered in
      ${duration(latency_ms / 1000)} after ${counted(attempts, 'request')} for
      ${counted(credits, 'credit')}. It had ${counted(items, 'item')}: ${inserted} new, ${altered}
      changed, ${quarantined} quarantined.
    </dd>
    <dt>Cursor</dt>
    <dd>
      ${
        cursor_in === null
          ? 'none: the first page of the list'
          : html`<code>${foreign(cursor_in, longestField)}</code>`
      }
    </dd>
    <dt>Walk</dt>
    <dd>${walkOf(origin)}</dd>
    <dt>Body</dt>
    <dd>SHA-256 ${hash(body_hash)}</dd>`;
}

function walkOf(origin: Origin): Html {
  const { walk_id, feed, lane, kind, scope, state, reason, started_at, finished_at } = origin;
  return html`${walk_id} of ${foreign(feed)}, ${lane} lane, ${kind};
  ${state}${reason === null ? '' : html`: ${foreign(reason)}`}. Began
  ${moment(started_at)}${finished_at === null ? '' : html`, ended ${moment(finished_at)}`}.
  ${scope === '{}' ? '' : html`To read: <code>${foreign(scope, longestField)}</code>.`} Run
  ${origin.run_id}${origin.run_state === null ? '' : `, ${origin.run_state}`}.`;
}

const changed = (change: Change): Html =>
  change.is === 'late'
    ? html`It came late, ${moment(change.seen_at)} on page ${change.page_id}, where the list had
      been complete without
      it${change.late_s === null ? '' : ` (${duration(change.late_s)} behind its own time)`}.`
    : html`${hash(change.old_hash)} gave way to ${hash(change.new_hash)}: replaced
      ${moment(change.observed_at)} by page ${change.page_id}.`;

function item(archived: Archived): Html {
  switch (archived.is) {
    case 'not-looked-at':
      return html``;
    case 'not-kept':
      return html`<p class="quiet">
        The body was not kept: <code>explorer.archive</code> is off, or it has expired.
      </p>`;
    case 'too-large':
      return html`<p class="quiet">The body is kept, and too large to be shown here.</p>`;
    case 'unreadable':
      return html`<p class="quiet">The body is kept, and this version can't read it.</p>`;
    case 'not-found':
      return html`<p class="quiet">
        The body is kept. None of its ${counted(archived.items, 'item')} names this row's key.
      </p>`;
    case 'item':
      return foreignLines('The item as served', archived.text, archived.length);
  }
}
