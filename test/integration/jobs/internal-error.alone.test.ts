import { expect, test, vi } from 'vitest';
import type { Operation } from '../../../src/lists/operation.ts';
import type * as registry from '../../../src/lists/registry.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';
import { logLines } from '../../e2e/log-lines.ts';
import { smallChain } from '../../harness/sync.ts';

const defect = vi.hoisted(() => ({ isThere: true }));

/** A list whose items the program cannot read, because of a defect of its own. */
vi.mock('../../../src/lists/registry.ts', async (original) => {
  const actual = await original<typeof registry>();
  const { factories } = actual.operations;
  const normalise: Operation['normalise'] = (...item) => {
    if (defect.isThere) Reflect.get(Object(undefined), 'accounts').toString();
    return factories.normalise(...item);
  };
  return {
    ...actual,
    operations: { ...actual.operations, factories: { ...factories, normalise } },
  };
});

const chosen = ['--operation', 'factories', '--operation', 'user-operations'];
const chain = smallChain({ userOperations: 60, factories: 120 });

test('a defect of the program ends its feed as failed, with one stack in the log, until a person tries again', async () => {
  const simulator = await simulated({ seed: 5, chains: [chain] });
  const { query, url } = await freshDatabase();
  const sync = () =>
    call(['sync', '--chain', '10', ...chosen, '--quiet', '--log-format', 'json'], {
      env: { EXPLORER_API_KEY: testKey, EXPLORER_BASE_URL: simulator.url, DATABASE_URL: url },
    });
  const feeds = async () => {
    return await query(`select operation, failure from etl.feeds order by operation`);
  };

  const failed = await sync();

  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(
    /10\/factories: internal-error: TypeError: Cannot read properties of undefined[\s\S]*report it/u,
  );
  expect(failed.stdout).not.toMatch(/nothing is lost/iu);
  const logged = logLines(failed.stderr).filter(({ feed }) => feed === '10/factories');
  expect(logged).toMatchObject([
    {
      event: 'feed.internal-error',
      level: 'error',
      stack: expect.stringMatching(/^at Object.normalise .*internal-error\.alone\.test\.ts/u),
    },
  ]);
  expect(await feeds()).toEqual([
    { operation: 'factories', failure: 'internal-error' },
    { operation: 'user-operations', failure: null },
  ]);

  defect.isThere = false;
  const second = await sync();

  expect(second.code).toBe(0);
  expect(await feeds()).toMatchObject([{ failure: null }, { failure: null }]);
  expect(await query('select count(*)::int as n from explorer.factories')).toEqual([{ n: 120 }]);
});
