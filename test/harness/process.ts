import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { demandDocument } from './documents.ts';
import { testKey } from './sync.ts';
import type { TimeMessage } from './worker-process.ts';

/** How a program ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The program in a process of its own. */
export interface Program {
  readonly isRunning: boolean;
  /** What it has written so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Sends a signal, if it still runs. */
  kill(signal: NodeJS.Signals): void;
  /** Waits for its end; throws with what it wrote when `boundMs` pass first. */
  ended(boundMs: number): Promise<Exit>;
}

export interface ProgramEnvironment {
  /** `DATABASE_URL`. */
  readonly databaseUrl: string;
  /** `DATABASE_URL_DIRECT`. */
  readonly directUrl?: string;
  /** `EXPLORER_BASE_URL`. */
  readonly explorerUrl: string;
  /** Working directory: where the program finds its `explorer-etl.yaml`. */
  readonly cwd: string;
  /** `src/main.ts` of another version; this checkout's program, bundled, if absent. */
  readonly main?: string;
}

/**
 * Starts `explorer-etl` with these arguments. It inherits nothing of this process's environment
 * but the path, and is killed at the latest when the running test ends.
 */
export function startProgram(args: readonly string[], environment: ProgramEnvironment): Program {
  const child = spawn(process.execPath, [environment.main ?? inject('program'), ...args], {
    cwd: environment.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NO_COLOR: '1',
      DATABASE_URL: environment.databaseUrl,
      ...(environment.directUrl !== undefined && { DATABASE_URL_DIRECT: environment.directUrl }),
      EXPLORER_BASE_URL: environment.explorerUrl,
      EXPLORER_API_KEY: testKey,
    },
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const watched = watchChild(child);
  return {
    get isRunning() {
      return watched.isRunning;
    },
    kill: watched.kill,
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    async ended(boundMs) {
      const timer = new AbortController();
      const late = delay(boundMs, 'late' as const, { signal: timer.signal });
      const first = await Promise.race([watched.closed, late]);
      if (first === 'late') {
        throw new Error(`not ended after ${boundMs} ms; it wrote:\n${written.stderr}`);
      }
      timer.abort();
      await late.catch(() => undefined);
      demandDocument(args, { code: first.code, stdout: written.stdout });
      return first;
    },
  };
}

/** A child process that is killed at the latest when the running test ends. */
export function watchChild(child: ChildProcess) {
  // 'close' comes after 'exit', when all output has been read too.
  const closed = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return {
    closed,
    get isRunning() {
      return isRunning();
    },
    /** Sends a signal, if it still runs. */
    kill: (signal: NodeJS.Signals): void => {
      if (isRunning()) child.kill(signal);
    },
  };
}

/** A folder with this configuration in it, removed when the running test ends. */
export async function configFolder(config: object): Promise<string> {
  const folder = await mkdtemp(inject('directoryPrefix'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // JSON is YAML.
  await writeFile(join(folder, 'explorer-etl.yaml'), JSON.stringify(config));
  return folder;
}

/** How often a condition is looked at, in ms: a few times per page of the slowest test. */
const pollMs = 20;

/** Looks until there is something to see; throws, with `what`, when `boundMs` pass first. */
export async function eventually<T>(
  what: string,
  boundMs: number,
  poll: () => Promise<T | null | undefined | false>,
  everyMs = pollMs,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const seen = await poll();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (performance.now() - start > boundMs) throw new Error(`${what}: not within ${boundMs} ms`);
    await delay(everyMs);
  }
}

/** A `start` whose time of day is the test's. */
export interface Worker {
  readonly isRunning: boolean;
  /** What it has written so far. */
  readonly stderr: string;
  /** Sends a signal, if it still runs. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when it goes by this time, or has ended. */
  setTime(instantMs: number): Promise<void>;
  readonly ended: Promise<Exit>;
}

/** Starts a worker at a time of day, ms since 1970. It is killed when the running test ends. */
export function startWorker(environment: ProgramEnvironment, instantMs: number): Worker {
  const child = fork(fileURLToPath(new URL('worker-process.ts', import.meta.url)), {
    cwd: environment.cwd,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NO_COLOR: '1',
      DATABASE_URL: environment.databaseUrl,
      EXPLORER_BASE_URL: environment.explorerUrl,
      EXPLORER_API_KEY: testKey,
      DRIVEN_INSTANT_MS: String(instantMs),
    },
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const watched = watchChild(child);
  return {
    get isRunning() {
      return watched.isRunning;
    },
    get stderr() {
      return stderr;
    },
    kill: watched.kill,
    async setTime(toMs) {
      const told = new Promise<void>((resolve) => {
        const listen = (message: unknown) => {
          if ((message as TimeMessage).instantMs !== toMs) return;
          child.off('message', listen);
          resolve();
        };
        child.on('message', listen);
        // Whoever was killed a moment ago takes no message; its end resolves this too.
        child.send({ instantMs: toMs } satisfies TimeMessage, () => undefined);
      });
      await Promise.race([told, watched.closed]);
    },
    ended: watched.closed,
  };
}

/** The process of the worker, once it is at work. */
export async function findWorker(pool: Pool): Promise<number | null> {
  const { rows } = await pool.query<{ pid: string }>(
    `select substring(application_name from '^explorer-etl demo worker (\\d+)') as pid
     from pg_stat_activity
     where datname = current_database() and application_name like 'explorer-etl demo worker %'`,
  );
  return rows[0] === undefined ? null : Number(rows[0].pid);
}

/** Whether a process is there. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
