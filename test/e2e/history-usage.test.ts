import { describe, test } from 'vitest';
import { call, expectOneMessage } from '../harness/call.ts';

const key = { EXPLORER_API_KEY: 'a-key' };

describe('wrong flags of backfill and plan end with exit code 2 and one message', () => {
  test.each<[name: string, args: string[], message: RegExp]>([
    [
      'a history that factories do not have',
      ['backfill', '--chain', '10', '--operation', 'factories'],
      /factories have no history: choose user-operations, optimism-batches, or optimism-batch-blocks/,
    ],
    [
      'batches that are to be read again',
      ['backfill', '--chain', '10', '--again', '--operation', 'optimism-batch-blocks'],
      /--again is about user-operations and optimism-batches/,
    ],
    [
      'an end that a backfill does not have',
      ['backfill', '--chain', '10', '--to-batch', '9'],
      /^error: unknown option '--to-batch'/,
    ],
    ['a plan of no chain', ['plan'], /no chain to copy: .*--chain 10.*explorer-etl init/],
  ])('%s', async (_name, args, message) => {
    const ended = await call(args, { env: key });
    expectOneMessage(ended, message, ended.stderr.includes('Did you mean') ? 2 : 1);
  });

  test('a bound of a backfill for another list', async () => {
    const args = ['backfill', '--chain', '10', '--operation', 'optimism-batch-blocks'];
    expectOneMessage(await call([...args, '--since', '2024-01-01'], { env: key }), /--since/);
  });
});
