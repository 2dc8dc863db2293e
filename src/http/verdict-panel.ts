import { html } from '../page/html.ts';
import type { Panel } from './panel.ts';

/** How all is, in a line. */
export const verdictPanel: Panel = {
  id: 'verdict',
  title: 'Verdict',
  render: async ({ status }) => html`<p>${status.verdict.kind}</p>`,
};
