import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import {
  accountFor,
  give,
  launchEnvironment,
  providePrograms,
} from '../../src/postgres/programs.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { freshDirectory } from './database.ts';
import { hangMs } from './hang.ts';
import { eventually } from './process.ts';

/** Systems give ports above these to connections that go out: one that is free now is soon taken. */
const [lowest, highest] = [10_000, 32_000];
const mostTries = 100;

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(lowest, highest);
    const server = createServer().listen({ port, host: '127.0.0.1' });
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`none of ${mostTries} ports is free`);
}

/** What becomes of the bytes between the program and Postgres. */
export type ProxyMode =
  /** They pass. */
  | 'open'
  /** New connections are closed at once; those that stand go on. */
  | 'refuse'
  /**
   * Half-open: connections stand and are accepted, and nothing that is said arrives. Those that met
   * it stay so, whatever comes.
   */
  | 'swallow';

/** A TCP proxy in front of a Postgres, which breaks as requested. */
export interface DatabaseProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  readonly connections: number;
  set(mode: ProxyMode): void;
  /** Resets every connection. @returns how many */
  cutAll(): number;
  /** Resets the connection to the server that comes from this port, as pg_stat_activity names it. */
  cut(clientPort: number): boolean;
  close(): Promise<void>;
}

interface Link {
  isDead: boolean;
  readonly client: Socket;
  readonly server: Socket;
}

/** Opens a proxy on a port of its own. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const links = new Set<Link>();
  let mode: ProxyMode = 'open';
  const reset = (link: Link) => {
    links.delete(link);
    link.client.resetAndDestroy();
    link.server.resetAndDestroy();
  };
  const listener = createServer((client) => {
    client.on('error', () => undefined);
    if (mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const server = connect(Number(target.port || 5432), target.hostname);
    const link: Link = { client, server, isDead: mode === 'swallow' };
    links.add(link);
    server.on('error', () => undefined);
    // Read and dropped while it swallows: what was said is lost for good, as on a dead route.
    client.on('data', (bytes) => !link.isDead && server.write(bytes));
    server.on('data', (bytes) => !link.isDead && client.write(bytes));
    // One who hangs up is not heard either.
    client.on('close', () => !link.isDead && reset(link));
    server.on('close', () => !link.isDead && reset(link));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  const cutAll = () => {
    const cut = [...links];
    for (const link of cut) reset(link);
    return cut.length;
  };
  return {
    url: url.href,
    get connections() {
      return links.size;
    },
    set(wanted) {
      mode = wanted;
      for (const link of links) link.isDead ||= wanted === 'swallow';
    },
    cutAll,
    cut(clientPort) {
      const link = [...links].find(({ server }) => server.localPort === clientPort);
      if (link !== undefined) reset(link);
      return link !== undefined;
    },
    async close() {
      cutAll();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** `nobody` on Linux: like Postgres, PgBouncer refuses to run as root. */
const nobody = 65534;

/** The version of the PgBouncer that is installed, such as `1.25`; null where there is none. */
export function poolerVersion(): string | null {
  try {
    const said = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' });
    return /PgBouncer (\d+\.\d+)/u.exec(said)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** A PgBouncer in front of the run's Postgres. */
export interface Pooler {
  /** A database's URL, through it. */
  through(databaseUrl: string): string;
}

/**
 * Starts a PgBouncer as it comes, but for `settings`. It ends with the running test.
 *
 * @param databaseUrl whose server it leads to
 */
export async function startPooler(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const folder = await mkdtemp(inject('directoryPrefix'));
  // As root, another user has to read it.
  await chmod(folder, 0o755);
  const port = await freePort();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    ...settings,
  };
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} ${login}`,
    '[pgbouncer]',
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users'), `"${decodeURIComponent(username)}" ""\n`, { mode: 0o644 });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  const account = process.geteuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const child = spawn('pgbouncer', ['--quiet', file], { ...account, cwd: '/', stdio: 'ignore' });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const through = (url: string) => {
    const pooled = new URL(url);
    pooled.hostname = '127.0.0.1';
    pooled.port = String(port);
    return pooled.href;
  };
  await eventually('the pooler to answer', hangMs, () => answers(through(databaseUrl)));
  return { through };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

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
