import { performance } from 'node:perf_hooks';
import { onTestFinished } from 'vitest';
import { secretsOfWebhook } from '../../../src/config/secrets.ts';
import { createPool } from '../../../src/db/pool.ts';
import type { StatusDocument } from '../../../src/documents/status.ts';
import { createLog } from '../../../src/log.ts';
import { fromOf } from '../../../src/notify/notification.ts';
import { notifyChanges } from '../../../src/notify/notify.ts';
import type { Pace } from '../../../src/notify/pace.ts';
import { openWebhook } from '../../../src/notify/post.ts';
import { awayStatus, emptyStatus } from '../../../src/report/status-document.ts';

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

/** As the program's, but in a hurry. */
const pace: Pace = {
  lookMs: 10,
  holdMs: 1,
  restMs: 0,
  firstRetryMs: 50,
  longestRetryMs: 200,
  mostAttempts: 1000,
};

/** A process that has a webhook. */
export interface Looking {
  readonly url: string;
  readonly status: () => Promise<StatusDocument>;
  readonly pace?: Partial<Pace>;
  readonly databaseUrl: string;
  /** How long an answer may take, in ms. */
  readonly limitMs?: number;
}

/** What a process does that has a webhook; ended when the running test is. */
export function startLooking({ url, status, databaseUrl, ...own }: Looking) {
  const lines: string[] = [];
  const log = createLog('debug', (line) => void lines.push(line), {
    format: 'json',
    isColoured: false,
    now: () => performance.now(),
  });
  log.conceal(secretsOfWebhook(url));
  const pool = createPool({
    url: databaseUrl,
    max: 1,
    applicationName: 'explorer-etl notify',
    settings: { synchronous_commit: 'off' },
  });
  const webhook = openWebhook(url, 'explorer-etl/0', own.limitMs);
  const ending = new AbortController();
  const running = notifyChanges(
    {
      pool,
      status,
      away: (message) => awayStatus(new Date(), message),
      webhook: () => webhook,
      from: fromOf(databaseUrl, '0.0.0'),
      log,
      now: () => performance.now(),
      pace: { ...pace, ...own.pace },
    },
    ending.signal,
  );
  const stop = async () => {
    if (pool.ended) return;
    ending.abort();
    await running;
    await webhook.close();
    await pool.end();
  };
  onTestFinished(stop);
  return { lines, stop };
}
