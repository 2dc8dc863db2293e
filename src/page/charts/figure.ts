import { html, type Html } from '../html.ts';

/** What a colour of a chart stands for. */
export interface Key {
  /** The class of its mark. */
  readonly name: string;
  readonly label: string;
}

/** A chart with what it shows and what its colours stand for. */
export const figure = (caption: string, keys: readonly Key[], content: Html): Html =>
  html`<figure>
    <figcaption><b>${caption}</b>${keys.map(swatch)}</figcaption>
    ${content}
  </figure>`;

const swatch = ({ name, label }: Key): Html =>
  html`<span class="key"
    ><svg class="swatch" aria-hidden="true" width="12" height="12">
      <rect class="area ${name}" width="12" height="12"></rect></svg
    >${label}</span
  >`;

/** The pattern of holes: its name is of the panel, because a page has several. */
export const holePattern = (id: string): Html =>
  html`<svg class="patterns" aria-hidden="true" width="0" height="0">
    <defs>
      <pattern
        id="${id}"
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line class="hatch" y2="6"></line>
      </pattern>
    </defs>
  </svg>`;

/** The numbers of a chart, for those who don't point at it: folded, and a row for each step. */
export const numbersTable = (
  summary: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): Html =>
  html`<details>
    <summary>${summary}</summary>
    <div class="scrolls" tabindex="0" role="region" aria-label="${summary}">
      <table>
        <thead>
          <tr>
            ${heads.map((head, index) => html`<th scope="col" class="${side(index)}">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell, index) => html`<td class="${side(index)}">${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;

/** The first column is of times, the others of numbers. */
const side = (column: number): string => (column === 0 ? '' : 'number');
