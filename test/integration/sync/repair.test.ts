import { expect, inject, test } from 'vitest';
import { alterPage } from '../../../simulator/index.ts';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import { chain, openProgram } from './program.ts';
import { inLong } from '../../harness/long-cases.ts';
const ofFactories = ['--chain', '10', '--operation', 'factories'];
const ofOperations = ['--chain', '10', '--operation', 'user-operations'];

const feeds = 'select feed from etl.feeds order by 1';
const chains = 'select chain_id::int from explorer.chains order by 1';

test.each([
  ['a chain', ['--chain', '10']],
  ['a list that was never read', ofOperations],
  ...inLong<[string, string[]]>(['a chain that was never read', ['--chain', '8453']]),
])(
  'repair of %s registers nothing, and reads nothing that verify does not report',
  async (_, flags) => {
    const { run, query } = await openProgram({ chains: [chain, { ...chain, id: 8453 }] });
    await run('sync', ...ofFactories);

    expect(await run('repair', ...flags)).toMatchObject({
      code: 0,
      requests: 0,
      stdout: expect.stringContaining('Nothing to do'),
    });

    expect(await query(feeds)).toEqual([{ feed: '10/factories' }]);
    expect(await query(chains)).toEqual([{ chain_id: 10 }]);
  },
);

test('repair without an operation reads only feeds that are open', async () => {
  const operations = { factories: {}, 'user-operations': {} };
  const { run, query, documentOf } = await openProgram({ operations });
  await run('sync');
  await query(`delete from etl.rankings; delete from explorer.chains`);

  const { lanes } = await documentOf<SyncDocument>('repair', '--chain', '10');

  expect(lanes.map(({ feed }) => feed)).toEqual(['10/factories']);
  expect(await query(feeds)).toEqual([{ feed: '10/factories' }, { feed: '10/user-operations' }]);
  expect(await query(chains)).toEqual([{ chain_id: 10 }]);
});

test.runIf(inject('isLong'))(
  'a repair whose data the service no longer has exits with 1, and says what is still open',
  async () => {
    let isGone = false;
    const { run, query, documentOf } = await openProgram({
      operations: { 'optimism-batch-blocks': {} },
      faults: () =>
        alterPage((page, { pathname }) =>
          isGone && pathname.endsWith('/optimism-batch/5')
            ? { items: [], next_page_params: null }
            : page,
        ),
    });
    await run('sync');
    await query(`delete from explorer.blocks where optimism_batch_number = 5`);
    isGone = true;

    const repaired = await run('repair');

    expect(repaired.code).toBe(1);
    expect(repaired.stdout).toContain('Still open: 10/optimism-batch-blocks. explorer-etl verify');
    expect((await run('verify')).code).toBe(1);

    isGone = false;
    const { still_open: stillOpen } = await documentOf<SyncDocument>('repair');
    expect(stillOpen).toEqual([]);
    expect((await run('verify')).code).toBe(0);
  },
);
