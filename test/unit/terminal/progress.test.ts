import { expect, test } from 'vitest';
import { progressLines } from '../../../src/cli/sync.ts';
import { feedOf, readingFeed, statusOf } from '../../harness/status.ts';
import { expectToFit, usual } from './looks.ts';

const left = { requests: { least: 1, likely: 80, most: 80 }, ends_in_s: 242, ends_at: null };
const celo = { chain_id: 42_220, chain_name: 'celo' };
const reading = readingFeed({
  rows: 12_000,
  verified: { ...readingFeed().verified, share: 0.476, basis: 'estimated' },
  left,
  progress: { reached: null, reached_at: '2026-08-30T06:15:00.000Z' },
});
const scene = statusOf([
  reading,
  feedOf({ operation: 'factories', label: 'factories', rows: 300 }),
  readingFeed({
    ...celo,
    state: 'failing',
    failure: 'unreachable',
    sentence: 'unreachable: HTTP 503, Service Unavailable. It is retried, and again and again.',
  }),
]);

test('progress on a terminal is the table of status, and the reason for which a feed waits', async () => {
  await expect(`${progressLines(scene, usual).join('\n')}\n`).toMatchFileSnapshot(
    'snapshots/progress.txt',
  );
  const small = progressLines(scene, { ...usual, columns: 60 }).join('\n');
  expect(small).toMatch(/user operations +running +~47 % +~4m\n[^]* 2026-08-30 06:15 UTC\n/u);
  expectToFit((look) => progressLines(scene, look).join('\n'));
});
