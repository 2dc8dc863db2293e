import { html, type Html } from './html.ts';

/** A command as the user types it, with a button that copies it. */
export const command = (text: string): Html =>
  html`<span class="command"
    ><code>${text}</code
    ><button type="button" data-copy="${text}" aria-label="Copy ${text}">Copy</button></span
  >`;
