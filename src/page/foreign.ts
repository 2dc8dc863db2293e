import { printable, printableLines } from '../printable.ts';
import { whole } from '../terminal/numbers.ts';
import { html, type Html } from './html.ts';

/** So many characters of a value are shown in a line. */
const longestValue = 120;

/**
 * A text that others wrote, as one line: what is invisible or turns the direction is spelled out, what is long is cut.
 * For attributes and options, which hold no markup.
 */
export const plain = (text: string, longest: number = longestValue): string =>
  printable(cut(text, longest));

/** The same for between tags: letters that are written from right to left stay by themselves. */
export const foreign = (text: string, longest: number = longestValue): Html =>
  html`<bdi>${plain(text, longest)}</bdi>`;

/**
 * Such a text with its lines, below a fold.
 *
 * @param length how long the whole is, where only its beginning was read
 */
export function foreignLines(summary: string, text: string, length = text.length): Html {
  const rest = length - text.length;
  return html`<details>
    <summary>${summary}</summary>
    <pre
      tabindex="0"
      aria-label="${summary}"
    ><bdi>${printableLines(text.toWellFormed())}</bdi></pre>
    ${
      rest > 0
        ? html`<p class="quiet">
            Cut: ${whole(rest)} of ${whole(length)} characters are left out.
          </p>`
        : ''
    }
  </details>`;
}

/** By characters, so that none is torn. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text.toWellFormed();
  // A character is at most two units long: no more of the text has to be looked at.
  const characters = Array.from(text.slice(0, longest * 2));
  if (characters.length <= longest && text.length <= longest * 2) return text.toWellFormed();
  return `${characters.slice(0, longest).join('').toWellFormed()}…`;
}
