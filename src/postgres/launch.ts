import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchEnvironment, type Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, systemCode, unlessMissing } from './failure.ts';
import type { Home } from './home.ts';
import { pidFile, pollMs, readPostmaster, readyTimeoutMs, type Postmaster } from './postmaster.ts';

/** Two processes rarely draw the same free port; ten times in a row means something else is wrong. */
const portAttempts = 10;
/** Processes of a killed server leave as soon as they notice; one deep in a query takes longer. */
const orphanTimeoutMs = 30_000;
/** A start that finds such processes fails at once; ask again after this many milliseconds. */
const orphanPollMs = 250;
/** The log holds what a person needs to find a fault, not history; in bytes. */
const logLimit = 10 * 1024 * 1024;
/** How much of the log an error quotes, in lines. */
const quotedLines = 5;

/**
 * Starts a server on the data of `home` and waits until it accepts connections. It outlives us,
 * has its own session (a Ctrl-C at our terminal is not for it) and holds none of our descriptors.
 *
 * @throws EmbeddedPostgresError with the last lines of its log.
 */
export async function launch(
  home: Home,
  binaries: Binaries,
  account: Account,
  settings: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  const remains = await disownPid(home.dataDirectory);
  const deadlineMs = performance.now() + orphanTimeoutMs;
  let port = await lastPort(home);
  for (let attempt = 1; ;) {
    const postmaster = await tryLaunch(home, binaries, account, {
      ...settings,
      port: String(port),
    });
    if (postmaster !== undefined) {
      await writeFile(home.portFile, `${port}\n`);
      return postmaster;
    }
    if (!(await isFree(port)) && attempt < portAttempts) {
      attempt += 1;
      port = await freePort();
    } else if (remains && performance.now() < deadlineMs) {
      await sleep(orphanPollMs);
    } else {
      throw new EmbeddedPostgresError(
        `Postgres did not start. ${home.logFile} ends with:\n${await tail(home.logFile)}\n`,
      );
    }
  }
}

/**
 * Prepares what a killed server left; true when it left anything. Postgres refuses to start while
 * the process id in `postmaster.pid` lives, even if it now is another program's. Our own id in its
 * place it passes over, since that is its parent's, and it still checks the rest of the file: is
 * the old server's shared memory in use by processes of it that live on? Deleting the file would
 * skip that check, which protects the data.
 */
async function disownPid(dataDirectory: string): Promise<boolean> {
  const text = await unlessMissing(readFile(pidFile(dataDirectory), 'utf8'));
  if (text === undefined) return false;
  // The machine stopped while it was written: it names no memory, and Postgres would not pass it.
  if (text.trim() === '') await rm(pidFile(dataDirectory));
  else await writeFile(pidFile(dataDirectory), text.replace(/^\d+/, String(process.pid)));
  return true;
}

async function tryLaunch(
  { dataDirectory, logFile }: Home,
  { postgres }: Binaries,
  account: Account,
  settings: Readonly<Record<string, string>>,
): Promise<Postmaster | undefined> {
  const log = await openLog(logFile);
  try {
    const child = spawn(postgres, ['-D', dataDirectory, ...flags(settings)], {
      ...account,
      cwd: '/',
      env: launchEnvironment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    child.unref();
    return await ready(child, dataDirectory);
  } finally {
    await log.close();
  }
}

function flags(settings: Readonly<Record<string, string>>): string[] {
  const all = {
    ...settings,
    // For programs of this machine only, which need the password; a socket's path could be too long.
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    logging_collector: 'off',
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function ready(child: ChildProcess, dataDirectory: string): Promise<Postmaster | undefined> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  while (child.exitCode === null && child.signalCode === null) {
    const postmaster = await readPostmaster(dataDirectory);
    if (postmaster?.pid === child.pid && postmaster?.status === 'ready') return postmaster;
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `Postgres, process ${child.pid}, is not ready after ${readyTimeoutMs / 1000} s`,
      );
    }
    await sleep(pollMs);
  }
  return undefined;
}

async function openLog(logFile: string): Promise<Awaited<ReturnType<typeof open>>> {
  const before = await unlessMissing(stat(logFile));
  if (before !== undefined && before.size > logLimit) await rename(logFile, `${logFile}.old`);
  return open(logFile, 'a', 0o640);
}

async function tail(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8');
  return text.trimEnd().split('\n').slice(-quotedLines).join('\n');
}

async function lastPort(home: Home): Promise<number> {
  const port = Number(await unlessMissing(readFile(home.portFile, 'utf8')));
  return Number.isInteger(port) && (await isFree(port)) ? port : freePort();
}

async function freePort(): Promise<number> {
  const server = createServer().listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP address');
  return address.port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen({ port, host: '127.0.0.1' });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
