import { foreign, plain } from '../foreign.ts';
import { hiddenInputs } from '../hidden-inputs.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import type { Described, Dictionary } from './facts.ts';

/** What the tables and columns mean: a search, the names of all tables, or one of them. */
export const dictionaryPart = (dictionary: Dictionary, query: URLSearchParams): Html =>
  html`<form class="fields" method="get" action="#explore" data-panel="explore">
      ${hiddenInputs(query, 'explore-')}
      <label class="wide" for="explore-word"
        >A word in names or meanings
        <input
          id="explore-word"
          name="explore-word"
          value="${dictionary.is === 'search' ? plain(dictionary.word) : ''}"
          maxlength="100"
          autocomplete="off"
          placeholder="wei"
        />
      </label>
      <button type="submit">Search</button>
      ${dictionary.is === 'tables' ? '' : html`<p>${toTables(query)}</p>`}
    </form>
    ${entriesOf(dictionary, query)}`;

const toTables = (query: URLSearchParams): Html =>
  html`<a
    href="${link(query, { 'explore-word': null, 'explore-table': null })}#explore"
    data-panel="explore"
    >All tables</a
  >`;

function entriesOf(dictionary: Dictionary, query: URLSearchParams): Html {
  switch (dictionary.is) {
    case 'tables':
      return tableNames(dictionary.tables, query);
    case 'table':
      return dictionary.entries.length === 0
        ? html`<p>There is no table ${foreign(dictionary.name)}.</p>`
        : described(dictionary.entries, true);
    case 'search': {
      const { entries, isCut, word } = dictionary;
      if (entries.length === 0) return html`<p>Nothing has ${foreign(word)} in it.</p>`;
      const tables = [...Map.groupBy(entries, ({ table }) => table).values()];
      return html`${
        isCut
          ? html`<p class="quiet">
              The first ${entries.length} that have it; a longer word finds fewer.
            </p>`
          : ''
      }
      ${tables.map((own) => described(own, tables.length <= 3))}`;
    }
  }
}

const tableNames = (tables: readonly Described[], query: URLSearchParams): Html =>
  html`<ul class="names">
    ${tables.map(
      ({ table, kind }) =>
        html`<li>
          <a
            href="${link(query, { 'explore-table': table, 'explore-word': null })}#explore"
            data-panel="explore"
            >${table}</a
          >${kind === 'view' ? html` <span class="quiet">view</span>` : ''}
        </li>`,
    )}
  </ul>`;

/** A table with those of its columns that are told of. */
function described(entries: readonly Described[], isOpen: boolean): Html {
  const [first] = entries;
  if (first === undefined) return html``;
  const columns = entries.filter(({ column }) => column !== null);
  const about = entries.find(({ column }) => column === null)?.description;
  return html`<details ${isOpen ? 'open' : ''}>
    <summary>
      <code>explorer.${first.table}</code>
      <span class="quiet">${first.kind}</span>
    </summary>
    ${about === null || about === undefined ? '' : html`<p>${foreign(about, longestText)}</p>`}
    <dl class="columns">
      ${columns.map(
        ({ column, type, unit, is_key, description }) =>
          html`<dt><code>${column}</code></dt>
            <dd>
              <span class="quiet"
                >${[type, unit, is_key ? 'key' : null].filter(Boolean).join(', ')}</span
              >
              ${foreign(description ?? '', longestText)}
            </dd>`,
      )}
    </dl>
  </details>`;
}

/** Longer than each of our comments. */
const longestText = 1_000;
