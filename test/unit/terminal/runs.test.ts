import { expect, test } from 'vitest';
import { runsText } from '../../../src/cli/status.ts';
import { expectToFit, usual } from './looks.ts';

const at = (time: string) => `2026-11-24T${time}Z`;
const run = { pages: 1, rows: 0, reason: null, lane: 'live', state: 'finished' } as const;
const found = {
  from: '2026-11-23T12:00:00Z',
  to: at('12:00:00'),
  runs: [
    {
      ...run,
      id: 3,
      feed: '10/bundles',
      opened_at: at('11:59:00'),
      ended_at: null,
      state: 'open' as const,
    },
    {
      ...run,
      id: 2,
      feed: '10/user-operations',
      lane: 'backfill' as const,
      opened_at: at('11:00:00'),
      ended_at: at('11:58:20'),
      pages: 4_120,
      rows: 206_000,
    },
    {
      ...run,
      id: 1,
      feed: '42220/optimism-batch-blocks',
      opened_at: '2026-11-23T23:30:00Z',
      ended_at: '2026-11-23T23:30:01Z',
      state: 'failed' as const,
      reason:
        'cursor-loop: cursor loop. The list goes round in circles: tell the explorer\u001b[31m.',
    },
  ],
  events: [
    {
      at: at('11:30:00'),
      kind: 'killed' as const,
      feed: '10/user-operations',
      sentence:
        'A worker was lost while it read 10/user-operations/backfill. Another one continues.',
    },
  ],
};

test('runs and events stand in one table, the newest first, with what they say', async () => {
  await expect(runsText(found, usual)).toMatchFileSnapshot('snapshots/runs.txt');
  expectToFit((look) => runsText(found, look));
});

test('a day without runs is said', () => {
  const text = runsText({ ...found, runs: [], events: [] }, usual);
  expect(text).toBe('No run in the last 24 hours.\n');
});
