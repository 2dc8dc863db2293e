import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import {
  accountFor,
  give,
  launchEnvironment,
  providePrograms,
} from '../../src/postgres/programs.ts';
import { readMoment } from '../../src/export/export.ts';
import { startEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { withClient } from '../harness/client.ts';
import { simulated, testKey } from '../harness/explorer.ts';
import { call, configFolder, eventually, expectOneMessage } from '../harness/process.ts';
import { databaseAt, freshDirectory } from '../harness/database.ts';
import { freePort } from '../harness/ports.ts';
import { plainChain } from '../harness/sync.ts';
import { feedsOf, openSession } from './mcp-session.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 300,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};
/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
const schedule = '0 0 1 1 *';
const operations = {
  'user-operations': { schedule },
  'optimism-batch-blocks': { schedule, from_batch: 1, to_batch: 3 },
  factories: { schedule },
};
const config = {
  explorer: { page_size: 10, requests_per_second: 1000 },
  chains: [{ id: 10, name: 'optimism', operations }],
};

test('on a streaming standby, commands that read work, and others say that it is a standby', async () => {
  const simulator = await simulated({ seed: 3, chains: [chain] });
  const { primary, standbyUrl, untilReplayed } = await startPair();
  const cwd = await configFolder(config);
  const on = (url: string) => {
    const env = {
      DATABASE_URL: url,
      EXPLORER_BASE_URL: simulator.url,
      EXPLORER_API_KEY: testKey,
    };
    return (...args: readonly string[]) => call(args, { env, cwd });
  };
  const [onPrimary, onStandby] = [on(primary.url), on(standbyUrl)];
  expect((await onPrimary('sync')).code).toBe(0);
  await untilReplayed();
  const reading = [
    ['verify'],
    ['verify', '--json'],
    ['plan'],
    ['quarantine', 'list'],
    ['query', 'select count(*) from explorer.user_operations'],
  ];
  for (const args of reading) expect((await onStandby(...args)).code).toBe(0);
  expect((await onStandby('verify')).stdout).toBe((await onPrimary('verify')).stdout);
  const checked = await onStandby('check', '--no-requests');
  expect(checked.stdout).toMatch(/^FAIL {2}database: .*Postgres .*standby/mu);
  expect(checked.code).toBe(1);

  const onMcp = await openSession(standbyUrl);
  const { rows } = await onMcp.answer('query', {
    sql: 'select count(*) from explorer.user_operations',
  });
  expect(rows).toEqual([[300]]);
  await onMcp.answer('run_question', { name: 'top-senders' });
  expect(feedsOf(await onMcp.answer('describe', { relation: 'factories' }))).toEqual([
    '10/factories',
  ]);
  const status = await onMcp.answer('status');
  expect(status).toMatchObject({
    overall: {
      state: 'action-required',
      sentence: expect.stringMatching(/is a standby: .* Name/u),
    },
    reasons: [{ code: 'database-failing', severity: 'action', blocks_readiness: true }],
  });

  // It shows no workers, so `status` would call a working installation stopped.
  const others = [
    ['status'],
    ['status', '--runs'],
    ['feeds'],
    ['feeds', 'pause', '--all'],
    ['migrate'],
    ['sync'],
    ['start'],
    ['backfill'],
    ['repair'],
    ['replay'],
    ['quarantine', 'retry'],
    ['quarantine', 'drop', '--all'],
  ];
  for (const args of others) expectOneMessage(await onStandby(...args), /is a standby/u);
});

test('a standby that was promoted a moment ago is another database than its primary', async () => {
  const { primary, standbyUrl, untilReplayed } = await startPair();
  const env = { DATABASE_URL: primary.url };
  expect((await call(['migrate'], { env })).code).toBe(0);
  await untilReplayed();
  const originOf = async (url: string) => (await readMoment(databaseAt(url).pool)).origin;
  const origin = await originOf(primary.url);
  expect(await originOf(standbyUrl)).toBe(origin);

  await ask(standbyUrl, 'select pg_promote()');

  expect(await originOf(standbyUrl)).not.toBe(origin);
});

const settings = { fsync: 'off', synchronous_commit: 'off' };

/**
 * Starts a primary, and a standby that streams from it, until the running test ends. The standby is a copy of the stopped primary's files: the embedded Postgres comes without
 * `pg_basebackup`.
 */
async function startPair() {
  const directory = await freshDirectory();
  const first = await startEmbeddedPostgres({ directory, settings });
  const { dataDirectory } = first;
  await first.stop();
  const copy = join(await freshDirectory(), 'data');
  // With its owner and its rights.
  await promisify(execFile)('cp', ['-a', dataDirectory, copy]);
  const primary = await startEmbeddedPostgres({ directory, settings });
  const standbyUrl = await startStandby(copy, primary.url);
  /** Waits until the standby has replayed all that the primary has written by now. */
  const untilReplayed = async () => {
    const written = await ask<{ lsn: string }>(
      primary.url,
      'select pg_current_wal_insert_lsn() as lsn',
    );
    await eventually('the standby to replay it', async () => {
      const reached = `select pg_last_wal_replay_lsn() >= '${written?.lsn}' as is_there`;
      return (await ask<{ is_there: boolean }>(standbyUrl, reached))?.is_there;
    });
  };
  return { primary, standbyUrl, untilReplayed };
}

/** @returns the standby's URL, once it answers */
async function startStandby(data: string, primaryUrl: string): Promise<string> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const account = await accountFor(data);
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await writeFile(join(data, 'standby.signal'), '');
  await give(join(data, 'standby.signal'), account);
  const programs = await providePrograms(account, join(data, '..'));
  const url = new URL(primaryUrl);
  url.port = String(await freePort());
  const flags = { port: url.port, listen_addresses: hostname, unix_socket_directories: '' };
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...account, cwd: '/', env: launchEnvironment, stdio: 'ignore' },
  );
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGQUIT');
    await ended;
  });
  await eventually('the standby to answer', () => ask(url.href, 'select 1').catch(() => null));
  return url.href;
}

/** The first row of an answer. */
const ask = <Row extends object>(url: string, statement: string): Promise<Row | undefined> =>
  withClient(url, async (client) => (await client.query<Row>(statement)).rows[0]);
