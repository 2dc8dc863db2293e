import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import {
  accountFor,
  give,
  launchEnvironment,
  providePrograms,
} from '../../src/postgres/programs.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { freshDirectory } from './database.ts';
import { hangMs } from './hang.ts';
import { freePort } from './port.ts';
import { eventually } from './process.ts';

/** A primary, and a standby that streams from it. Both end with the running test. */
export interface Pair {
  readonly primary: EmbeddedPostgres;
  readonly standbyUrl: string;
  /** Runs a statement on the standby. */
  readonly tellStandby: (statement: string) => Promise<unknown>;
  /** Waits until the standby has replayed all that the primary has written by now. */
  readonly untilReplayed: () => Promise<void>;
}

const settings = { fsync: 'off', synchronous_commit: 'off' };

/**
 * Starts both. The standby is a copy of the stopped primary's files: the embedded Postgres comes without
 * `pg_basebackup`.
 */
export async function startPair(): Promise<Pair> {
  const directory = await freshDirectory();
  const first = await startEmbeddedPostgres({ directory, settings });
  const { dataDirectory } = first;
  await first.stop();
  const copy = join(await freshDirectory(), 'data');
  // With its owner and its rights.
  await promisify(execFile)('cp', ['-a', dataDirectory, copy]);
  const primary = await startEmbeddedPostgres({ directory, settings });
  const standbyUrl = await startStandby(copy, primary.url);
  const untilReplayed = async () => {
    const written = await ask<{ lsn: string }>(
      primary.url,
      'select pg_current_wal_insert_lsn() as lsn',
    );
    await eventually('the standby to replay it', hangMs, async () => {
      const reached = `select pg_last_wal_replay_lsn() >= '${written?.lsn}' as is_there`;
      return (await ask<{ is_there: boolean }>(standbyUrl, reached))?.is_there;
    });
  };
  const tellStandby = (statement: string) => ask(standbyUrl, statement);
  return { primary, standbyUrl, tellStandby, untilReplayed };
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
  await eventually('the standby to answer', hangMs, () =>
    ask(url.href, 'select 1').catch(() => null),
  );
  return url.href;
}

/** The first row of an answer. */
async function ask<Row extends object>(url: string, statement: string): Promise<Row | undefined> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(statement)).rows[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}
