import { expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { readingLog } from '../../../src/sync/worker.ts';

const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;

/** News of pages that are committed at these seconds, two of 50 items each time. */
function messagesOf(seconds: readonly number[]): string[] {
  const logged: string[] = [];
  let at = 0;
  const log = createLog('info', (line) => void logged.push(line.trim().replace(/^\S+ /u, '')));
  const commit = readingLog(log, () => at * 1000);
  for (at of seconds) commit(lane, { pages: 2, items: 100 });
  return logged;
}

test('a lane that keeps reading logs its progress once a minute', () => {
  const each = Array.from({ length: 13 }, (_, n) => n * 10);
  expect(messagesOf(each)).toEqual([
    'INFO: feed.reading  10/user-operations (backfill): 700 items, 14 pages in 1m, and goes on',
    'INFO: feed.reading  10/user-operations (backfill): 600 items, 12 pages in 1m, and goes on',
  ]);
});

test('polls a minute apart are logged one by one', () => {
  expect(messagesOf([0, 60, 120, 180])).toEqual([]);
});
