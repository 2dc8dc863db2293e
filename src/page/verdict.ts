import { html, type Html } from './html.ts';

/** How all is, in what a person reads at a glance. */
export interface VerdictFacts {
  readonly name: string;
  readonly tone: 'good' | 'warning' | 'bad';
  /** The gravest reason, in a sentence; null: there is nothing to say. */
  readonly gist: string | null;
  /** Who works, what today costs, when it goes on. */
  readonly summary: readonly string[];
  /** Other facts, each in some words. */
  readonly about: readonly string[];
  /** `22:45 UTC` */
  readonly asOf: string;
}

/** A form beside the colour. */
const marks = { good: '✓', warning: '!', bad: '✕' } as const;

/**
 * The verdict. Only its name is a live region: what changes each few seconds, as ages do, would never let a screen
 * reader be silent.
 */
export const verdict = ({ name, tone, gist, summary, about, asOf }: VerdictFacts): Html =>
  html`<p class="verdict">
      <span class="verdict-mark ${tone}" aria-hidden="true">${marks[tone]}</span>
      <strong class="${tone}" role="status" id="verdict-name">${name}</strong>
      ${gist === null ? '' : html`<span>${gist}</span>`}
    </p>
    <ul class="facts quiet">
      ${[...summary, ...about, `as of ${asOf}`].map((fact) => html`<li>${fact}</li>`)}
    </ul>`;
