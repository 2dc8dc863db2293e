import { expect, test } from 'vitest';
import { statusFaults } from '../../../simulator/index.ts';
import type { Occasion } from '../../../src/lists/list.ts';
import { dueScope } from '../../../src/sync/feeds.ts';
import { openCopy, smallChain } from '../../harness/sync.ts';
import { openProgram } from './program.ts';

const chain = smallChain({ family: 'plain' });

test('a list that a chain does not serve costs one request, and its feed is unsupported', async () => {
  const { sync, query, differing } = await openCopy(chain);

  const { requests } = await sync({ operations: ['user-operations', 'factories'] });

  expect(requests).toBe(2);
  const unsupported = {
    failure: 'unsupported',
    reason: expect.stringMatching(/^unsupported: HTTP \d+, .+The explorer does not serve/),
  };
  expect(
    await query('select operation, failure, reason from etl.feeds order by operation'),
  ).toEqual([
    { operation: 'factories', ...unsupported },
    { operation: 'user-operations', ...unsupported },
  ]);
  expect(await differing()).toEqual({});
});

test.each<[string, string[], RegExp, number]>([
  [
    'all lists of a chain are unsupported, which is no failure',
    ['--chain', '10', '--from-batch', '1', '--to-batch', '2'],
    /^ {2}10\/user-operations, .*10\/factories.*: The explorer does not serve this list on this chain: HTTP 501, Not implemented\.\n {4}Remove it/mu,
    0,
  ],
  [
    'a list that a person names is unsupported, which fails the command',
    ['--chain', '10', '--operation', 'factories'],
    /^ {2}10\/factories: The explorer does not serve this list on this chain: HTTP 501, Not implemented\.$/mu,
    1,
  ],
  [
    'the explorer does not know a chain, with what to do',
    ['--chain', '999'],
    /^ {2}999\/[\w/, -]+: The explorer does not serve this chain: HTTP 404, Network not supported\.\n.*remove it from the configuration/mu,
    1,
  ],
])('sync says that %s', async (_, flags, said, exit) => {
  const { run } = await openProgram({ chains: [chain] });

  const { code, stdout } = await run('sync', ...flags);

  expect(stdout).toMatch(said);
  expect(stdout).not.toContain('✓');
  expect(code).toBe(exit);
});

test('a list that was served lately is polled again after as long, and after a day at most', async () => {
  let isServed = true;
  const { sync, query } = await openCopy(
    { ...chain, family: 'optimism' },
    { faults: () => (isServed ? null : statusFaults['501']) },
  );
  await sync({ operations: ['factories'] });
  isServed = false;
  const waits = [];
  for (const minutes of [10, 60, 2_880]) {
    await query(`update etl.coverage set last_page_at = now() - interval '${minutes} minutes'`);
    await sync({ operations: ['factories'] });
    waits.push(
      ...(await query(`
        select failure, round(extract(epoch from poll_again_at - now()) / 60)::int as minutes from etl.feeds`)),
    );
  }
  const failure = 'unsupported';
  const within = (least: number) =>
    expect.toSatisfy((own: number) => own >= least && own <= 1.05 * least + 1);
  expect(waits).toEqual([10, 60, 1_440].map((least) => ({ failure, minutes: within(least) })));
});

test('an unsupported feed is polled again after a day, and by sync at any time', async () => {
  const { db, sync, query } = await openCopy(chain);
  await sync({ operations: ['factories'] });
  const target = {
    lane: { chain_id: chain.id, operation: 'factories', lane: 'backfill' },
    scope: {},
  } as const;
  const isDue = async (occasion: Occasion) =>
    (await dueScope(db, target, occasion, new Date())) !== null;
  const pass = (time: string) =>
    query(`update etl.feeds set poll_again_at = poll_again_at - interval '${time}'`);
  const seen = [await isDue('schedule'), await isDue('start'), await isDue('sync')];
  await pass('23 hours');
  seen.push(await isDue('schedule'));
  await pass('3 hours');
  seen.push(await isDue('schedule'));
  expect(seen).toEqual([false, false, true, false, true]);
});
