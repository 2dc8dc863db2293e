import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { statusFaults } from '../../../simulator/index.ts';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import { call, configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/explorer.ts';
import { chain, openProgram, timeAt, withinADay } from './program.ts';
import { openRun } from '../../harness/runs.ts';

const ofFactories = ['--chain', '10', '--operation', 'factories'];

test('a chain can be named by the configuration, its usual name or its number', async () => {
  const { run, query } = await openProgram({
    name: 'op mainnet',
    operations: { 'user-operations': {} },
  });
  for (const name of ['op-mainnet', 'Optimism', '10']) {
    expect((await run('sync', '--chain', name, '--max-pages', '1')).code).toBe(0);
  }
  expect(await query(`select distinct chain_id::int from etl.runs`)).toEqual([{ chain_id: 10 }]);
  expect(await run('sync', '--chain', 'op mainet')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /--chain op mainet: no chain has this name; did you mean op mainnet/,
    ),
  });
});

test('a question takes names of chains, and its days as a duration', async () => {
  const { run } = await openProgram({ operations: { 'user-operations': {} } });
  await run('sync');
  const question = ['query', 'operations-daily'];

  const byName = await run(...question, '--chain', 'optimism', '--days', '2w');

  expect(byName.code).toBe(0);
  expect(byName.stdout.trimEnd().split('\n').length).toBeGreaterThan(1);
  expect(await run(...question, '--chain', '10', '--days', '14')).toEqual(byName);
  expect((await run(...question, '--chain', 'nowhere')).code).toBe(2);
  expect(await run(...question, '--days', '36h')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/whole days, such as 7/),
  });
});

test('sync ends with the command that lists questions, but not with --quiet or --json', async () => {
  const { run, documentOf } = await openProgram();
  const command = ['sync', ...ofFactories];

  expect((await run(...command)).stdout).toMatch(/Query it: {2}explorer-etl query --list\n$/u);

  expect((await run(...command, '--quiet')).stdout).not.toContain('Query it');
  expect(await documentOf<SyncDocument>(...command)).toMatchObject({
    lanes: [{ feed: '10/factories', state: 'finished' }],
  });
});

test('a sync whose credits are used up says until when, keeps what it read, and exits with 1', () =>
  withinADay(async () => {
    const { run, query } = await openProgram({
      explorer: { page_size: 10, daily_credits: 80 },
      operations: { 'user-operations': {} },
    });

    expect(await run('sync', '--quiet')).toMatchObject({
      code: 1,
      requests: 4,
      stdout: expect.stringMatching(
        /^ {2}10\/user-operations: The 80 credits of a day are used \(daily_credits in \S+\/explorer-etl\.yaml\); no request before 20\d\d-\d\d-\d\d 00:00:00 UTC\.$/mu,
      ),
    });

    const feeds = `select failure, (select count(*)::int from explorer.user_operations) as stored from etl.feeds`;
    expect(await query(feeds)).toEqual([{ failure: 'daily-limit', stored: 40 }]);
  }));

test('a sync whose run another command replaces reports it as superseded, and exits with 1', async () => {
  let replacing: Promise<unknown> | null = null;
  const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;
  const { run, db } = await openProgram({
    operations: { 'user-operations': {} },
    hold: () => (replacing ??= openRun(db, lane, { max_pages: 1 })).then(() => undefined),
  });

  const { code, stdout } = await run('sync', '--json');

  expect(code).toBe(1);
  expect((JSON.parse(stdout) as SyncDocument).lanes).toMatchObject([
    { lane: 'backfill', state: 'superseded', failure: null, reason: null },
  ]);
});

test('a limit of pages leaves out the list that it does not limit', async () => {
  const { run, query } = await openProgram({
    operations: { 'user-operations': {}, 'optimism-batch-blocks': {} },
  });

  expect((await run('sync', '--max-pages', '1')).requests).toBe(1);

  expect(await query('select distinct operation from etl.walks')).toEqual([
    { operation: 'user-operations' },
  ]);
});

test('items in quarantine are counted for each lane, and reported with the command that lists them', async () => {
  const { run, query, documentOf } = await openProgram({
    chains: [{ ...chain, oddities: ['missing-hash'] }],
    operations: { 'user-operations': {} },
  });

  const { lanes } = await documentOf<SyncDocument>('sync', '--max-pages', '9');

  const [held] = await query('select count(*)::int from etl.quarantine');
  expect(held.count).toBeGreaterThan(1);
  expect(lanes.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(held.count);
  expect((await run('repair', '--yes')).stdout).toMatch(
    /: \d+ items in quarantine\.\n {4}explorer-etl quarantine list$/mu,
  );
});

test('sync and status agree on the cost of a refused key', async () => {
  const { run, documentOf } = await openProgram({ faults: () => statusFaults['401'] });

  const { code, stdout, requests } = await run('sync', ...ofFactories, '--json');
  const { credits } = await documentOf<{ credits: { spent: number } }>('status');

  expect(code).toBe(1);
  const cost = { requests, credits: requests * 20 };
  expect((JSON.parse(stdout) as SyncDocument).totals).toMatchObject(cost);
  expect(credits.spent).toBe(cost.credits);
});

const feeds = 'select feed from etl.feeds order by 1';

test.each([[[]], [['--again']]])(
  'backfill %s registers no list that it does not read',
  async (flags) => {
    const operations = { factories: {}, 'user-operations': {}, 'optimism-batch-blocks': {} };
    const { run, query } = await openProgram({ operations });

    expect((await run('backfill', '--since', '2026-01-01', ...flags)).code).toBe(0);

    expect(await query(feeds)).toEqual([{ feed: '10/user-operations' }]);
  },
);

test('a list whose file has another bound than the last sync is open until the next one', async () => {
  const of = (since: string) => ({ operations: { 'user-operations': { since } } });
  const { run, cwd = '', env } = await openProgram(of(timeAt(0.5)));
  await run('sync');
  expect((await run('verify')).code).toBe(0);

  const file = {
    explorer: { requests_per_second: 1000 },
    chains: [{ id: chain.id, ...of(timeAt(0.2)) }],
  };
  await writeFile(join(cwd, 'explorer-etl.yaml'), JSON.stringify(file));

  expect(await call(['verify'], { env, cwd })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the file has another since than the last start or sync'),
  });
  await run('sync');
  expect((await run('verify')).code).toBe(0);
});

test('a file that sync and start refuse is one event, without the API key', async () => {
  const { run, query, env } = await openProgram();
  await run('migrate');
  const cwd = await configFolder({ explorer: { [testKey]: 1, page_size: 'many' } });
  const away = { ...env, DATABASE_URL: 'postgres://postgres@127.0.0.1:9/postgres' };
  for (const command of ['sync', 'start'])
    expect((await call([command], { env, cwd })).code).toBe(2);
  expect((await call(['sync'], { env: away, cwd })).code).toBe(2);

  const sentence =
    /^explorer-etl\.yaml:1: explorer\.\*\*\*: unknown key.*:1: explorer\.page_size: /u;
  expect(await query(`select sentence from etl.events where kind = 'config-refused'`)).toEqual([
    { sentence: expect.stringMatching(sentence) },
  ]);
  expect((await run('status', '--runs')).stdout).toContain('config-refused');
});
