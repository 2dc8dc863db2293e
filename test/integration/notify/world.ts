import type { StatusDocument } from '../../../src/documents/status.ts';
import { emptyStatus } from '../../../src/report/status-document.ts';

type Kind = StatusDocument['verdict']['kind'];

export const feed = '10/user-operations';
export const verdicts = {
  healthy: { kind: 'healthy', reasons: [] },
  'needs-you': { kind: 'needs-you', reasons: [{ kind: 'quarantine', feed, items: 3 }] },
  stopped: {
    kind: 'stopped',
    reasons: [{ kind: 'nobody-works', feeds: [feed], last_page_at: null, last_page_age_s: null }],
  },
} as const satisfies Partial<Record<Kind, StatusDocument['verdict']>>;

/** How all is, as the test says; as of a time that rises with each look. */
export function world(first: keyof typeof verdicts) {
  const state = { kind: first };
  const status = async (): Promise<StatusDocument> => ({
    ...emptyStatus(new Date(), null),
    verdict: verdicts[state.kind],
  });
  return { state, status };
}
