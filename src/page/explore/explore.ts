import { command } from '../command.ts';
import { foreignLines, plain } from '../foreign.ts';
import { hiddenInputs } from '../hidden-inputs.ts';
import { html, type Html } from '../html.ts';
import { link } from '../link.ts';
import { answerTable } from './answer.ts';
import { dictionaryPart } from './dictionary.ts';
import type { ChosenQuestion, Dictionary, Field, NamedQuestion } from './facts.ts';

/** What is there to explore. */
export interface Explored {
  readonly questions: readonly NamedQuestion[];
  readonly chosen: ChosenQuestion | null;
  /** Why no question is chosen, though one was named. */
  readonly problem: string | null;
  readonly dictionary: Dictionary;
  readonly chains: readonly { readonly id: number; readonly name: string }[];
  readonly query: URLSearchParams;
}

/** The questions with the answer to the chosen one, and what tables and columns mean. */
export const explore = (explored: Explored): Html =>
  html`<div class="explore">
      <nav aria-label="Questions">
        <ul class="questions">
          ${explored.questions.map((one) => toQuestion(one, explored))}
        </ul>
      </nav>
      <div id="explore-answer">${answered(explored)}</div>
    </div>
    <details id="explore-dictionary" ${explored.dictionary.is === 'tables' ? '' : 'open'}>
      <summary>Data dictionary: what each table and column means</summary>
      ${dictionaryPart(explored.dictionary, explored.query)}
    </details>`;

/** Another question has other parameters; the chain stays. */
const toQuestion = ({ name, question }: NamedQuestion, { chosen, query }: Explored): Html => {
  const address = link(query, {
    'explore-question': name,
    'explore-days': null,
    'explore-limit': null,
  });
  return html`<li>
    <a
      href="${address}#explore"
      data-panel="explore"
      ${name === chosen?.name ? html`aria-current="true"` : ''}
      >${question}</a
    >
  </li>`;
};

function answered({ chosen, problem, query, chains }: Explored): Html {
  if (problem !== null) return html`<p class="bad" role="alert">${problem}</p>`;
  if (chosen === null) {
    return html`<p class="quiet">
      Choose a question. It is asked once, when you do: some take a second on a large copy.
    </p>`;
  }
  const { name, question, fields, chart, sql, answer } = chosen;
  return html`<h3>${question}</h3>
    <form class="fields" method="get" action="#explore" data-panel="explore">
      ${hiddenInputs(query, 'explore-')}
      <input type="hidden" name="explore-question" value="${name}" />
      ${fields.map((field) => fieldOf(field, chains))}
      <button type="submit">Ask</button>
    </form>
    ${
      answer.is === 'refused'
        ? html`<p class="bad" role="alert">${answer.message}</p>`
        : answerTable(answer.table, chart, { name, query })
    }
    ${foreignLines('SQL of this question', sql)} ${command(chosen.command)}`;
}

const fieldOf = ({ name, value, meaning }: Field, chains: Explored['chains']): Html => {
  const id = `explore-${name}`;
  return name === 'chain'
    ? html`<label for="${id}"
        >Chain
        <select id="${id}" name="${id}" title="${meaning}">
          <option value="">all</option>
          ${chains.map(
            (chain) =>
              html`<option value="${chain.id}" ${value === String(chain.id) ? 'selected' : ''}>
                ${chain.id} ${plain(chain.name)}
              </option>`,
          )}
        </select>
      </label>`
    : html`<label for="${id}"
        >${name === 'days' ? 'Days' : 'Rows'}
        <input
          id="${id}"
          name="${id}"
          value="${plain(value)}"
          title="${meaning}"
          inputmode="numeric"
          size="6"
          maxlength="6"
        />
      </label>`;
};
