import { counted, duration, whole } from '../../terminal/numbers.ts';
import { foreign } from '../foreign.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import { bars, largestOf, placeOf, rowBar } from './bars.ts';
import type { Chart, Table } from './facts.ts';

/** Rows that a person reads. */
export const mostRows = 100;

/** An answer as a table, with a chart above it or bars beside its rows. */
export function answerTable(
  table: Table,
  chart: Chart | null,
  { name, query }: { readonly name: string; readonly query: URLSearchParams },
): Html {
  const { rows, ms } = table;
  const count = html`<p class="quiet">
    ${amount(table)}, in ${duration(Math.round(ms) / 1000)}. Times are UTC.
  </p>`;
  if (rows.length === 0) return html`<p>The answer is empty.</p>`;
  return html`${chart === null || chart.by === null ? '' : bars(table, chart)} ${count}
    <div class="scrolls" tabindex="0" role="region" aria-label="Answer to ${name}">
      ${rowsOf(table, chart, query)}
    </div>`;
}

/** How many rows there are, and which of them are shown. */
function amount({ rows: { length }, isCut }: Table): string {
  if (length <= mostRows && !isCut) return counted(length, 'row');
  const first = `The first ${counted(Math.min(length, mostRows), 'row')}`;
  return isCut
    ? `${first} of more than ${whole(length)}; a chart has the first ${whole(length)}`
    : `${first} of ${whole(length)}; a chart has all`;
}

function rowsOf(table: Table, chart: Chart | null, query: URLSearchParams): Html {
  const { columns } = table;
  const rows = table.rows.slice(0, mostRows);
  const measure = chart === null || chart.by !== null ? -1 : placeOf(columns, chart.of);
  const largest = largestOf(table, measure);
  const chain = placeOf(columns, 'chain_id');
  return html`<table class="answer">
    <thead>
      <tr>
        ${columns.map(
          ({ name, isNumber }, at) =>
            html`<th scope="col" class="${isNumber ? 'number' : ''}">${name}</th>
              ${at === measure ? html`<td class="row-bar"></td>` : ''}`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map(
              ({ isNumber }, at) =>
                html`<td class="${isNumber ? 'number' : ''}">
                    ${cell(row[at], query, row[chain])}
                  </td>
                  ${
                    at === measure ? html`<td class="row-bar">${rowBar(row[at], largest)}</td>` : ''
                  }`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const hex = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/u;

/** A value; what can be looked up leads to where it is. */
function cell(
  value: string | null | undefined,
  query: URLSearchParams,
  chain: string | null | undefined,
): Html {
  if (value === null || value === undefined) return html`<span class="quiet">null</span>`;
  if (!hex.test(value)) return foreign(value.replace(/\+00$/u, ''));
  const address = link(query, { 'why-what': value, 'why-chain': chain ?? null });
  return html`<a href="${address}#why" title="${value}"
    ><code>${value.slice(0, 10)}…${value.slice(-6)}</code></a
  >`;
}
