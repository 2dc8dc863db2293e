import { counted } from '../../terminal/numbers.ts';
import { command } from '../command.ts';
import { html, type Html } from '../html.ts';
import { plain } from '../foreign.ts';
import { hiddenInputs } from '../hidden-inputs.ts';
import { explainedRow } from './row.ts';
import type { Explained, Findings, Term } from './facts.ts';

/** A chain that may be chosen. */
export interface Choice {
  readonly id: number;
  readonly name: string;
}

/** What the form was told. */
export interface Asked {
  readonly what: string;
  readonly chain: string;
  readonly chains: readonly Choice[];
  readonly query: URLSearchParams;
}

/** What became of it. */
export type Answer =
  | { readonly is: 'nothing-asked' }
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'found'; readonly findings: Findings };

type Called = (command: string) => string;

/** A form that takes what somebody has at hand, and below it the rows that have it with their reasons. */
export const why = (asked: Asked, answer: Answer, called: Called): Html =>
  html`${form(asked)}
    <div id="why-answer">${answerTo(answer, called)}</div>`;

/** Characters: a hash has 66. */
const longestInput = 200;

const form = ({ what, chain, chains, query }: Asked): Html =>
  html`<form class="fields" method="get" action="#why" data-panel="why">
    ${hiddenInputs(query, 'why-')}
    <label class="wide" for="why-what"
      >Hash, address, height or batch number
      <input
        id="why-what"
        name="why-what"
        value="${plain(what.trim(), longestInput)}"
        maxlength="${longestInput}"
        autocomplete="off"
        spellcheck="false"
        placeholder="0x…"
      />
    </label>
    <label for="why-chain"
      >Chain
      <select id="why-chain" name="why-chain">
        <option value="">all</option>
        ${chains.map(
          ({ id, name }) =>
            html`<option value="${id}" ${chain === String(id) ? 'selected' : ''}>
              ${id === Number(name) ? id : `${id} ${plain(name)}`}
            </option>`,
        )}
      </select>
    </label>
    <button type="submit">Look up</button>
  </form>`;

function answerTo(answer: Answer, called: Called): Html {
  switch (answer.is) {
    case 'nothing-asked':
      return html`<p class="quiet">
        Paste the hash of an operation, a transaction or a block, an address, a height, or the
        number of a batch. You are told each row that has it, and which page brought it.
      </p>`;
    case 'refused':
      return html`<p class="bad" role="alert">${answer.message}</p>`;
    case 'found':
      return findings(answer.findings, called);
  }
}

function findings({ term, found, lookedAt }: Findings, called: Called): Html {
  if (found.length === 0) {
    return html`<p>No row has this ${term.is}.</p>
      ${lookedThrough(lookedAt)}
      <p>What is not read yet, or was read and is missing:</p>
      ${command(called('explorer-etl query what-is-missing'))}`;
  }
  const pages = new Set<number>();
  const explain = (row: Explained) => {
    const isKnown = pages.has(row.page_id);
    pages.add(row.page_id);
    return explainedRow(row, term, isKnown);
  };
  const rows = found.reduce((sum, each) => sum + each.rows.length, 0);
  return html`<p>
      ${counted(rows, 'row')} in ${counted(new Set(found.map(({ table }) => table)).size, 'table')}.
    </p>
    ${found.map(
      (each) =>
        html`${each.rows.map(explain)}
        ${each.isCut ? others(each.table, each.column, term, called) : ''}`,
    )}
    ${lookedThrough(lookedAt)}`;
}

const others = (table: string, column: string, { is, value }: Term, called: Called): Html => {
  const literal = is === 'number' ? value : `'${value}'`;
  return html`<p class="quiet">More rows of ${table} have it. All of them:</p>
    ${command(called(`explorer-etl query "select * from ${table} where ${column} = ${literal}"`))}`;
};

const lookedThrough = (lookedAt: readonly string[]): Html =>
  html`<details class="quiet">
    <summary>Where it was looked for</summary>
    <p>${lookedAt.join(', ')}. Other columns have no index, so they would be read whole.</p>
  </details>`;
