import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, systemCode, unlessMissing } from './failure.ts';

/** What `postmaster.pid` says about a server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** `starting`, `ready`, `standby` or `stopping`. */
  readonly status: string;
}

/** A fast shutdown writes one checkpoint; more than this many milliseconds means it hangs. */
const stopTimeoutMs = 60_000;
/** Recovery after a crash reads at most max_wal_size (1 GB) of log; in milliseconds. */
export const readyTimeoutMs = 300_000;
/** A start takes 100 ms, so look often. */
export const pollMs = 20;

/** Where the server of `dataDirectory` describes itself. */
export function pidFile(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid');
}

/**
 * Reads `postmaster.pid`; undefined when there is none or it is not yet whole. Its lines: pid, data
 * directory, start time, port, socket directory, address, shared memory key, status
 * (src/include/utils/pidfile.h of Postgres).
 */
export async function readPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const text = await unlessMissing(readFile(pidFile(dataDirectory), 'utf8'));
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    port: Number.isSafeInteger(port) ? port : 0,
    status: lines[7]?.trim() ?? 'starting',
  };
}

/**
 * The server that runs on `dataDirectory` once it accepts connections; undefined when none runs.
 * Waits for one that starts, recovers or stops.
 *
 * @throws EmbeddedPostgresError when that takes too long, or the data is another user's.
 */
export async function findPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  for (;;) {
    const postmaster = await inspect(dataDirectory);
    if (postmaster === undefined || !(await isPostmaster(postmaster.pid, dataDirectory))) {
      return undefined;
    }
    if (postmaster.status === 'ready') return postmaster;
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `The Postgres of ${dataDirectory} has been ${postmaster.status} for ${readyTimeoutMs / 1000} s`,
      );
    }
    await sleep(pollMs);
  }
}

async function inspect(dataDirectory: string): Promise<Postmaster | undefined> {
  try {
    return await readPostmaster(dataDirectory);
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    throw new EmbeddedPostgresError(
      `${dataDirectory} belongs to another user (was the program run as root before?): ` +
        'run as that user, or choose another directory',
      { cause: error },
    );
  }
}

/**
 * Stops a server with a fast shutdown: clients are cut off, open transactions roll back.
 * @throws EmbeddedPostgresError when it may not be signalled or does not stop in time.
 */
export async function stopPostmaster(pid: number, dataDirectory: string): Promise<void> {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return;
    throw new EmbeddedPostgresError(`Cannot stop Postgres, process ${pid}`, { cause: error });
  }
  const deadlineMs = performance.now() + stopTimeoutMs;
  while (await isPostmaster(pid, dataDirectory)) {
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `Postgres, process ${pid}, has not stopped within ${stopTimeoutMs / 1000} s`,
      );
    }
    await sleep(pollMs);
  }
}

/**
 * True when process `pid` is a server of `dataDirectory`. Its number alone proves nothing: after a
 * restart of the machine or the container another process may have it, or a dead server may linger
 * as a zombie that nobody collects.
 */
async function isPostmaster(pid: number, dataDirectory: string): Promise<boolean> {
  return (await commandOf(pid)).includes(`postgres -D ${dataDirectory} -c`);
}

async function commandOf(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') {
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    }
    const { stdout } = await promisify(execFile)('/bin/ps', ['-o', 'command=', '-p', String(pid)]);
    return stdout;
  } catch {
    // No such process: ps exits with 1, /proc has no file.
    return '';
  }
}
