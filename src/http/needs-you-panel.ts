import { needsYou } from '../page/needs-you.ts';
import { readNeeds } from '../report/needs-you.ts';
import type { Panel } from './panel.ts';

/** What waits for somebody, and what should be known. */
export const needsYouPanel: Panel = {
  id: 'needs-you',
  title: 'Needs you',
  render: async ({ db, status, called }) => needsYou(await readNeeds(db, status), called),
};
