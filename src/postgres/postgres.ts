import { realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionLost } from '../db/failure.ts';
import { accountFor } from './account.ts';
import { provideBinaries } from './binaries.ts';
import { provideCluster } from './cluster.ts';
import { unlessMissing } from './failure.ts';
import { findHome, prepareDirectory, settleHome, type Home } from './home.ts';
import { launch } from './launch.ts';
import { withLock } from './lock.ts';
import { closeToOthers, readPassword } from './password.ts';
import { findPostmaster, stopPostmaster, type Postmaster } from './postmaster.ts';
import { takeLease, usersOf, type Lease } from './users.ts';

/** A Postgres server of this machine that this process uses, until `release` or `stop`. */
export interface EmbeddedPostgres {
  /**
   * `postgres://postgres:PASSWORD@127.0.0.1:PORT/postgres`; the same port at the next start if it is
   * free. For this process and the terminal of who started it: no log line, no error text.
   */
  readonly url: string;
  /** Where the data really lives. */
  readonly dataDirectory: string;
  /** True when the data could not live in the asked directory. */
  readonly relocated: boolean;
  /** True when a server already ran there. */
  readonly attached: boolean;
  /**
   * Ends this process's use: the last one out stops the server. Anyone connected counts, also a
   * person with psql. Close your own pools first, or they keep it running.
   */
  release(): Promise<'stopped' | 'left-running'>;
  /** Ends this process's use and lets the server run until `stop`, whoever comes and goes. */
  detach(): Promise<void>;
  /** Stops the server whoever uses it. */
  stop(): Promise<void>;
}

/**
 * Uses the Postgres server of `directory`, starting it if it does not run and making its data if
 * there is none. Any number of processes may call this at once and share one server. Commits are
 * durable unless `settings` say otherwise.
 *
 * @param options.directory made if absent; holds `data`, `postgres.log`, `postgres.password` and
 *   `postgres.lock`. As root, when the unprivileged server cannot reach it, all but the lock go under
 *   `/var/lib/explorer-etl`.
 * @param options.settings server settings by name, in effect only if this call starts the server.
 * @throws EmbeddedPostgresError saying what to do.
 */
export async function startEmbeddedPostgres(options: {
  directory: string;
  settings?: Readonly<Record<string, string>>;
}): Promise<EmbeddedPostgres> {
  const directory = await prepareDirectory(options.directory);
  const lockFile = lockOf(directory);
  return withLock(lockFile, async () => {
    const home = await settleHome(directory);
    const { url, lease, running } = await enter(home, options.settings ?? {});
    return {
      url,
      dataDirectory: home.dataDirectory,
      relocated: home.relocated,
      attached: running !== undefined,
      release: () => withLock(lockFile, () => release(home, lease)),
      detach: () =>
        withLock(lockFile, async () => {
          await writeFile(home.keepFile, '');
          await lease.client.end();
        }),
      stop: () =>
        withLock(lockFile, async () => {
          await lease.client.end();
          await stopIn(home);
        }),
    };
  });
}

/** Stops the server of `directory`, whoever uses it; false when none runs there. */
export async function stopEmbeddedPostgres(directory: string): Promise<boolean> {
  const path = await unlessMissing(realpath(directory));
  if (path === undefined) return false;
  return withLock(lockOf(path), async () => {
    const home = await findHome(path);
    return home !== undefined && stopIn(home);
  });
}

/**
 * Stops the server of `directory` unless somebody is connected.
 *
 * @returns who is; nobody where it was stopped. Null when none runs there.
 */
export async function stopUnlessUsed(directory: string): Promise<readonly string[] | null> {
  const path = await unlessMissing(realpath(directory));
  if (path === undefined) return null;
  return withLock(lockOf(path), async () => {
    const home = await findHome(path);
    const postmaster = home === undefined ? undefined : await findPostmaster(home.dataDirectory);
    if (home === undefined || postmaster === undefined) return null;
    const users = await usersOf(await urlOf(home, postmaster.port));
    if (users.length === 0) await stopIn(home);
    return users;
  });
}

/** The Postgres of a directory as it is now. */
export interface EmbeddedPostgresState {
  readonly dataDirectory: string;
  readonly logFile: string;
  /** Null when it does not run. */
  readonly server: {
    readonly pid: number;
    readonly port: number;
    /** As that of EmbeddedPostgres. */
    readonly url: string;
    /** Whether it runs on when nobody uses it any more. */
    readonly isKept: boolean;
    /** Who is connected, by name. */
    readonly users: readonly string[];
  } | null;
}

/** Whether there is a Postgres of `directory`, running or not. */
export async function hasEmbeddedPostgres(directory: string): Promise<boolean> {
  const path = await unlessMissing(realpath(directory));
  return path !== undefined && (await findHome(path)) !== undefined;
}

/** Looks at the Postgres of `directory`, and starts nothing; null when there is no data. */
export async function inspectEmbeddedPostgres(
  directory: string,
): Promise<EmbeddedPostgresState | null> {
  const path = await unlessMissing(realpath(directory));
  if (path === undefined) return null;
  // Whoever leaves meanwhile would take the look for use.
  return withLock(lockOf(path), async () => {
    const home = await findHome(path);
    if (home === undefined) return null;
    const { dataDirectory, logFile } = home;
    const postmaster = await findPostmaster(dataDirectory);
    if (postmaster === undefined) return { dataDirectory, logFile, server: null };
    const { pid, port } = postmaster;
    const url = await urlOf(home, port);
    const users = await usersOf(url);
    return {
      dataDirectory,
      logFile,
      server: { pid, port, url, isKept: await isKept(home), users },
    };
  });
}

/** How often a server that is there but lets nobody in is looked at again. */
const entries = 20;
/** Between two polls, in milliseconds: a killed server is gone within a few. */
const entryPauseMs = 50;

/** Attaches to the home's server, or starts one. A server that dies at this moment is replaced. */
async function enter(home: Home, settings: Readonly<Record<string, string>>) {
  for (let entry = 1; ; entry += 1) {
    const running = await findPostmaster(home.dataDirectory);
    const { port } = running ?? (await startIn(home, settings));
    try {
      // Missing where an earlier version made the data: its server asked nobody for a password.
      if ((await readPassword(home)) === undefined) await closeToOthers(home, port);
      const url = await urlOf(home, port);
      return { url, lease: await takeLease(url), running };
    } catch (error) {
      if (running === undefined || entry === entries || !isConnectionLost(error)) throw error;
      await sleep(entryPauseMs);
    }
  }
}

function lockOf(directory: string): string {
  return join(directory, 'postgres.lock');
}

async function startIn(
  home: Home,
  settings: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  await rm(home.keepFile, { force: true });
  const account = await accountFor(home.dataDirectory);
  const binaries = await provideBinaries(account, home.binariesDirectory);
  await provideCluster(home, binaries, account, settings['fsync'] !== 'off');
  return launch(home, binaries, account, settings);
}

const isKept = async ({ keepFile }: Home) => (await unlessMissing(stat(keepFile))) !== undefined;

async function stopIn({ dataDirectory, keepFile }: Home): Promise<boolean> {
  await rm(keepFile, { force: true });
  const postmaster = await findPostmaster(dataDirectory);
  if (postmaster === undefined) return false;
  await stopPostmaster(postmaster.pid, dataDirectory);
  return true;
}

async function release(home: Home, lease: Lease): Promise<'stopped' | 'left-running'> {
  await lease.client.end();
  const postmaster = await findPostmaster(home.dataDirectory);
  if (postmaster === undefined) return 'stopped';
  if (await isKept(home)) return 'left-running';
  const users = await usersOf(await urlOf(home, postmaster.port), lease.pid);
  if (users.length > 0) return 'left-running';
  await stopPostmaster(postmaster.pid, home.dataDirectory);
  return 'stopped';
}

async function urlOf(home: Home, port: number): Promise<string> {
  return `postgres://postgres:${await readPassword(home)}@127.0.0.1:${port}/postgres`;
}
