import { html, type Html } from './html.ts';

/** A time to the second, UTC. */
export const moment = (at: string): Html => {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
};
