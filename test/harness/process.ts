import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { inject, onTestFinished, expect } from 'vitest';
import { demandDocument } from './documents.ts';
import { testKey } from './explorer.ts';
import type { WorkerSettings } from './worker-process.ts';
import type { Random } from '../../simulator/random.ts';
import { runProgram } from '../../src/cli/program.ts';
import { plainLook } from '../../src/terminal/layout.ts';

/**
 * What has not come by then never will, in ms. Time limits of tests are for hangs alone: this is
 * some hundred times what the slowest wait takes on a quiet machine, and less than any test's own.
 */
export const hangMs = Number(process.env['HANG'] ?? 240_000);

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of its own, and what it has written. It is killed at the latest when the running test ends. */
export class Child {
  stdout = '';
  stderr = '';
  /** Resolves after its end, when all output has been read too. */
  readonly exit: Promise<Exit>;
  protected readonly child: ChildProcess;
  readonly #args: readonly string[];
  readonly #startedMs = performance.now();

  /** @param args of the program, if it is that: what it prints for machines is a document */
  constructor(child: ChildProcess, args: readonly string[] = []) {
    this.child = child;
    this.#args = args;
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => (this[name] += text));
    }
    this.exit = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
    onTestFinished(async () => {
      this.kill('SIGKILL');
      await this.exit;
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
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
    if (this.isRunning) this.child.kill(signal);
  }

  /** Waits for its end; throws with what it wrote when `boundMs` pass first. */
  async ended(boundMs = hangMs): Promise<Exit> {
    const exit = await Promise.race([this.exit, delay(boundMs, null, { ref: false })]);
    if (exit === null) throw new Error(`not ended after ${boundMs} ms; it wrote:\n${this.stderr}`);
    demandDocument(this.#args, { code: exit.code, stdout: this.stdout });
    return exit;
  }
}

/** Where a program finds its database, its explorer and its configuration. */
export interface ProgramEnvironment {
  /** `DATABASE_URL`. */
  readonly databaseUrl: string;
  /** `EXPLORER_BASE_URL`. */
  readonly explorerUrl: string;
  /** Working directory: where the program finds its `explorer-etl.yaml`. */
  readonly cwd: string;
  /** `application_name` in the database. */
  readonly name?: string;
}

/** The whole environment of a program: it inherits nothing of this process's own but the path. */
function environmentOf({ databaseUrl, explorerUrl, name }: ProgramEnvironment) {
  const url = new URL(databaseUrl);
  if (name !== undefined) url.searchParams.set('application_name', name);
  return {
    PATH: process.env['PATH'],
    NO_COLOR: '1',
    DATABASE_URL: name === undefined ? databaseUrl : url.href,
    EXPLORER_BASE_URL: explorerUrl,
    EXPLORER_API_KEY: testKey,
  };
}

/** Starts `explorer-etl` with these arguments: this checkout's program, bundled, or `main`. */
export function startProgram(
  args: readonly string[],
  environment: ProgramEnvironment,
  main = inject('program'),
): Child {
  return spawned(args, environment.cwd, environmentOf(environment), main);
}

/** Starts the program with this environment alone. */
const spawned = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, main: string) =>
  new Child(
    spawn(process.execPath, [main, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'], env }),
    args,
  );

/** What a command left behind. */
export interface Ended {
  /** Null when it had to be killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  /** The whole environment but PATH, HOME and NO_COLOR. */
  readonly env?: Readonly<Record<string, string>>;
  /** An empty folder of its own if absent. */
  readonly cwd?: string;
  /** When it resolves, the command is asked to stop with SIGTERM. */
  readonly until?: (output: () => string, pid: number) => Promise<unknown>;
}

/** Runs `explorer-etl` with these arguments in a process of its own, to its end. */
export async function command(
  args: readonly string[],
  { env = {}, cwd, until }: CommandOptions = {},
): Promise<Ended> {
  const { PATH, HOME } = process.env;
  const own = { PATH, HOME, NO_COLOR: '1', ...env };
  const child = spawned(args, cwd ?? (await emptyFolder()), own, inject('program'));
  if (until !== undefined) {
    await Promise.race([until(() => child.output, child.pid), child.exit]);
    child.kill('SIGTERM');
  }
  const { code } = await child.ended();
  return { code, stdout: child.stdout, stderr: child.stderr };
}

/** A `start` whose time of day is its parent's. */
export class Worker extends Child {
  constructor(environment: ProgramEnvironment, settings: WorkerSettings) {
    const env = { ...environmentOf(environment), WORKER_SETTINGS: JSON.stringify(settings) };
    const { cwd } = environment;
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
    super(fork(join(import.meta.dirname, 'worker-process.ts'), { cwd, stdio: [...stdio], env }));
  }

  /** Sets its clock; resolves when it goes by that, or has ended. */
  async setTime(instantMs: number): Promise<void> {
    const answered = once(this.child, 'message');
    // A process that was killed a moment ago takes no message; its end resolves this too.
    this.child.send(instantMs, () => undefined);
    await Promise.race([answered, this.exit]);
  }
}

/** Processes that do the same work; one that ends can be replaced. */
export class Crew<Member extends Child> {
  readonly members: Member[] = [];
  readonly #size: number;
  readonly #start: () => Member | Promise<Member>;

  constructor(size: number, start: () => Member | Promise<Member>) {
    this.#size = size;
    this.#start = start;
  }

  /** Starts a process in each place in which none runs. @returns how many */
  async fill(): Promise<number> {
    let started = 0;
    for (let place = 0; place < this.#size; place += 1) {
      if (this.members[place]?.isRunning === true) continue;
      this.members[place] = await this.#start();
      started += 1;
    }
    return started;
  }

  /** Kills some of them, and starts others in their place. @returns whether all of them still ran */
  async kill(victims: readonly Member[]): Promise<boolean> {
    const alive = victims.filter(({ isRunning }) => isRunning);
    for (const victim of alive) victim.kill('SIGKILL');
    await Promise.all(victims.map(({ exit }) => exit));
    await this.fill();
    return alive.length === victims.length;
  }

  /** All of them once in four, else one. */
  drawSome(random: Random): Member[] {
    return random.oneIn(4) ? [...this.members] : [random.pick(this.members)];
  }

  /** Asks all of them to stop. @returns how each ended */
  stop(boundMs?: number): Promise<Exit[]> {
    for (const member of this.members) member.kill('SIGTERM');
    return Promise.all(this.members.map((member) => member.ended(boundMs)));
  }
}

/** An empty folder that is removed when the running test ends. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'explorer-etl-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with this configuration in it, removed when the running test ends. */
export async function configFolder(config: object): Promise<string> {
  const folder = await emptyFolder();
  // JSON is YAML.
  await writeFile(join(folder, 'explorer-etl.yaml'), JSON.stringify(config));
  return folder;
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

/** How often a condition is checked, in ms: a few times per page of the slowest test. */
const pollMs = 20;

/** Polls until there is a result; throws, with `what`, when `boundMs` pass first. */
export async function eventually<T>(
  what: string,
  poll: () => Promise<T | null | undefined | false>,
  { boundMs = hangMs, everyMs = pollMs } = {},
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const seen = await poll();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (performance.now() - start > boundMs) throw new Error(`${what}: not within ${boundMs} ms`);
    await delay(everyMs);
  }
}

/** What a command draws on in a test: files, as under a service manager. */
export const plainOutput = { out: plainLook, err: plainLook, program: 'explorer-etl' } as const;

interface CallOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** As wide as this is the terminal that stdout is; none if absent. */
  readonly columns?: number;
  readonly signal?: AbortSignal;
  /** What a user types before a command's name. */
  readonly program?: string;
  /** What it writes is to be no document, though one is requested. */
  readonly isBroken?: true;
}

/** The same program without a process around it, which costs a second each. */
export async function call(
  args: readonly string[],
  { env = {}, cwd, columns, signal, program, isBroken }: CallOptions = {},
): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  const code = await runProgram(args, {
    env,
    cwd: cwd ?? (await emptyFolder()),
    signal: signal ?? new AbortController().signal,
    stdout: (text) => void (output.stdout += text),
    stderr: (text) => void (output.stderr += text),
    ...plainOutput,
    ...(program !== undefined && { program }),
    ...(columns !== undefined && { out: { isTerminal: true, columns, isColoured: false } }),
  });
  if (isBroken !== true) demandDocument(args, { code, stdout: output.stdout });
  return { code, ...output };
}

/** Exit 2, one message on stderr, no stack, nothing on stdout. */
export function expectOneMessage(ended: Ended, message: RegExp, lines = 1): void {
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).not.toMatch(/^ {4}at |node:internal|Error:.*\n/m);
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(lines);
  expect(ended.stdout).toBe('');
  expect(ended.code).toBe(2);
}
