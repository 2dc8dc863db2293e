import { expect, test } from 'vitest';
import { runsText } from '../../../src/cli/status.ts';
import type { RunsDocument } from '../../../src/status/endpoints.ts';
import { expectToFit, usual } from './looks.ts';

const at = (time: string, day = 24) => `2026-11-${day}T${time}Z`;
type Run = RunsDocument['runs'][number];
const run = {
  pages: 1,
  rows: 0,
  reason: null,
  lane: 'live',
  state: 'finished',
  failed_requests: 0,
  first_failure: null,
  waited_s: 0,
} as const;
const waited = { failed_requests: 5, first_failure: 'connection refused', waited_s: 123 };
const ran = (feed: string, opened_at: string, ended_at: string | null, more: Partial<Run> = {}) =>
  ({ ...run, id: 1, feed, opened_at, ended_at, ...more }) satisfies Run;
const reason =
  'cursor-loop: cursor loop. The list goes round in circles: tell the explorer\u001b[31m.';
const batches = '42220/optimism-batch-blocks';
const long = { lane: 'backfill', pages: 4_120, rows: 206_000 } as const;
const found: RunsDocument = {
  from: at('12:00:00', 23),
  to: at('12:00:00'),
  runs: [
    ran('10/bundles', at('11:59:00'), null, { state: 'open', ...waited }),
    ran('10/user-operations', at('11:00:00'), at('11:58:20'), long),
    ran(batches, at('23:30:00', 23), at('23:30:01', 23), { state: 'failed', reason }),
  ],
  events: [
    {
      at: at('11:30:00'),
      kind: 'killed',
      feed: null,
      sentence: 'A worker was killed. Others continue its work.',
    },
  ],
};

test('runs and events are listed in one table, the newest first', async () => {
  await expect(runsText(found, usual)).toMatchFileSnapshot('snapshots/runs.txt');
  expectToFit((look) => runsText(found, look));
});

test('a day without runs has a message', () => {
  const text = runsText({ ...found, runs: [], events: [] }, usual);
  expect(text).toBe('No run in the last 24 hours.\n');
});
