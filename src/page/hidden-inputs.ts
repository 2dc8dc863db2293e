import { html, type Html } from './html.ts';

/** A form without script sends its own fields alone: so what other panels were asked is sent along. */
export const hiddenInputs = (query: URLSearchParams, ownPrefix: string): readonly Html[] =>
  [...query]
    .filter(([name]) => !name.startsWith(ownPrefix))
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
