import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testKey } from './key.ts';
import type { WorkerClock, WorkerSettings } from './worker-process.ts';

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type Stream = 'stdout' | 'stderr';

/** A process of its own, and what it has written. Whoever starts it ends it. */
export class Child {
  stdout = '';
  stderr = '';
  /** Resolves after its end, when all output has been read too. */
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #startedMs = performance.now();

  constructor(child: ChildProcess, read: readonly Stream[] = ['stdout', 'stderr']) {
    this.#child = child;
    for (const name of read) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => (this[name] += text));
    }
    this.exit = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Since it was started, in ms. */
  get ageMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** All that it has written. */
  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Whether `start` is at work. */
  get isReady(): boolean {
    return this.output.includes('start.ready');
  }

  /** Sends a signal, if it still runs. */
  kill(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  /** Waits for its end; throws with what it wrote when `boundMs` pass first. */
  async ended(boundMs: number): Promise<Exit> {
    const timer = new AbortController();
    const late = delay(boundMs, null, { signal: timer.signal });
    const exit = await Promise.race([this.exit, late]);
    if (exit === null) throw new Error(`not ended after ${boundMs} ms; it wrote:\n${this.stderr}`);
    timer.abort();
    await late.catch(() => undefined);
    return exit;
  }
}

/** Where a program finds its database, its explorer and its configuration. */
export interface ProgramEnvironment {
  /** `DATABASE_URL`. */
  readonly databaseUrl: string;
  /** `DATABASE_URL_DIRECT`. */
  readonly directUrl?: string;
  /** `EXPLORER_BASE_URL`. */
  readonly explorerUrl: string;
  /** Working directory: where the program finds its `explorer-etl.yaml`. */
  readonly cwd: string;
  /** `application_name` in the database. */
  readonly name?: string;
}

/** The whole environment of a program: it inherits nothing of this process's own but the path. */
function environmentOf({ databaseUrl, directUrl, explorerUrl, name }: ProgramEnvironment) {
  const url = new URL(databaseUrl);
  if (name !== undefined) url.searchParams.set('application_name', name);
  return {
    PATH: process.env['PATH'],
    NO_COLOR: '1',
    DATABASE_URL: name === undefined ? databaseUrl : url.href,
    ...(directUrl !== undefined && { DATABASE_URL_DIRECT: directUrl }),
    EXPLORER_BASE_URL: explorerUrl,
    EXPLORER_API_KEY: testKey,
  };
}

const ownMain = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts `explorer-etl` with these arguments; `main` is this checkout's if absent. */
export const spawnMain = (
  args: readonly string[],
  environment: ProgramEnvironment,
  main = ownMain,
): ChildProcess =>
  spawn(process.execPath, [main, ...args], {
    cwd: environment.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(environment),
  });

/** A `start` whose time of day is its parent's. */
export class Worker extends Child {
  readonly #process: ChildProcess;

  constructor(environment: ProgramEnvironment, settings: WorkerSettings) {
    const child = fork(fileURLToPath(new URL('worker-process.ts', import.meta.url)), {
      cwd: environment.cwd,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...environmentOf(environment), WORKER_SETTINGS: JSON.stringify(settings) },
    });
    super(child);
    this.#process = child;
  }

  /** Stops its clock at a time; resolves when it goes by that, or has ended. */
  async setTime(instantMs: number): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      const listen = (message: unknown) => {
        if ((message as WorkerClock).instantMs !== instantMs) return;
        this.#process.off('message', listen);
        resolve();
      };
      this.#process.on('message', listen);
      // A process that was killed a moment ago takes no message; its end resolves this too.
      this.#process.send({ ...standing, instantMs } satisfies WorkerClock, () => undefined);
    });
    await Promise.race([answered, this.exit]);
  }
}

/** The part of a clock that stands. */
export const standing = { sinceMs: 0, rate: 0 };

/** How often a condition is checked, in ms: a few times per page of the slowest test. */
const pollMs = 20;

/** Polls until there is a result; throws, with `what`, when `boundMs` pass first. */
export async function eventually<T>(
  what: string,
  boundMs: number,
  poll: () => Promise<T | null | undefined | false>,
  everyMs = pollMs,
  signal?: AbortSignal,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const seen = await poll();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (performance.now() - start > boundMs) throw new Error(`${what}: not within ${boundMs} ms`);
    await delay(everyMs);
  }
}
