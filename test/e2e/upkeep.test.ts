import type { StatusDocument } from '../../src/status/schema.ts';
import { describe, expect, test } from 'vitest';
import { prepareDatabase } from '../../src/app.ts';
import type { SimulatedChain } from '../../simulator/index.ts';
import { call as run } from '../harness/process.ts';
import { sharedCopy, plainChain } from '../harness/sync.ts';
import { opened } from '../harness/database.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 200,
  batches: { first: 1, count: 2, blocks: 20 },
  factories: 60,
  oddities: ['missing-hash'],
};

const database = sharedCopy(5, [chain], { archive: 'all' });

/** A command on that database, in this process. */
const call = (...args: readonly string[]) =>
  run(args, { env: { DATABASE_URL: database.url }, cwd: '/' });

const count = async () => {
  const rows = await database.query(
    'select count(*)::int from etl.quarantine where dropped_at is null',
  );
  return rows[0]?.count ?? 0;
};

test('replay restores missing values, and says what it did', async () => {
  await database.query('update explorer.user_operations set fee = null');
  const { code, stdout } = await call('replay', '--quiet', '--operation', 'user-operations');
  expect(stdout).toMatch(
    /^Decoded 4 archived pages, without a request\.\nRows: 0 added, \d+ changed\.\nQuarantine: 0 items became rows; \d+ items of these pages stay\.\n$/u,
  );
  expect(code).toBe(0);
  const second = await call('replay', '--quiet', '--operation', 'user-operations');
  expect(second.stdout).toContain('Rows: 0 added, 0 changed.');
  expect((await call('replay', '--chain', '11')).stdout).toMatch(/^No archived pages/u);
});

test('replay exits with 130 if it is interrupted', async () => {
  const signal = AbortSignal.abort(new Error('SIGINT'));
  const env = { DATABASE_URL: database.url };
  expect(await run(['replay'], { env, cwd: '/', signal })).toMatchObject({ code: 130 });
});

describe('quarantine', () => {
  test('list prints a table, and with --json each item in full', async () => {
    const { code, stdout } = await call('quarantine', 'list', '--operation', 'user-operations');
    expect(stdout).toMatch(/10\/user-operations.*hash: Invalid input/);
    expect(code).toBe(0);
    const { stdout: json } = await call('quarantine', 'list', '--json');
    const listed = JSON.parse(json) as { count: number; items: object[] };
    expect(listed.items).toHaveLength(await count());
    expect(listed).toMatchObject({
      count: await count(),
      items: expect.arrayContaining([
        expect.objectContaining({
          feed: '10/user-operations',
          chain_id: 10,
          operation: 'user-operations',
          raw: expect.any(Object),
        }),
      ]),
    });
  });

  test('retry exits with 1 if an item still cannot be read', async () => {
    const { code, stdout } = await call('quarantine', 'retry', '--chain', 'optimism');
    expect(stdout).toMatch(/^0 became rows, \d+ stay in quarantine\.\n {2}\d+ of 10\//);
    expect(code).toBe(1);
  });

  test('drop requires a choice of items', async () => {
    const before = await count();
    const { code, stderr } = await call('quarantine', 'drop');
    expect([code, stderr]).toEqual([2, expect.stringContaining('or --all')]);
    expect(await count()).toBe(before);
    expect((await call('quarantine', 'drop', '--chain', '11')).stdout).toBe('Dropped 0 items.\n');
    const { stdout: first } = await call('quarantine', 'list', '--json');
    const { items } = JSON.parse(first) as { readonly items: readonly { readonly id: number }[] };
    const one = await call('quarantine', 'drop', '--id', String(items[0]?.id));
    expect(one.stdout).toBe('Dropped 1 item.\n');
    const others = `Dropped ${before - 1} items.\n`;
    expect((await call('quarantine', 'drop', '--all')).stdout).toBe(others);
    expect(await call('quarantine', 'retry')).toMatchObject({
      code: 0,
      stdout: 'Nothing to retry.\n',
    });
  });
});

test('migrate --roles prints what it granted', async () => {
  await prepareDatabase(opened(database));
  const { code, stdout } = await call('migrate', '--roles');
  expect(stdout).toContain(
    'Granted: explorer_etl_owner, explorer_etl_worker, explorer_etl_analyst.',
  );
  expect(code).toBe(0);
});

test('status and verify show unknown fields and the archive', async () => {
  const { stdout } = await call('status');
  expect(stdout).toMatch(
    /\d+ differences? from the specification; unknown fields are in extra\.\n +explorer-etl verify/,
  );
  const { feeds } = JSON.parse((await call('status', '--json')).stdout) as StatusDocument;
  expect(feeds.find(({ feed }) => feed === '10/user-operations')?.archived_bytes).toBeGreaterThan(
    0,
  );
  expect((await call('verify')).stdout).toMatch(/: 2 unknown fields stored in extra: /);
});
