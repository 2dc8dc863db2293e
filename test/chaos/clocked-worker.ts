import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testKey } from '../harness/key.ts';
import type { RunningClock } from './clocked-start.ts';

const program = fileURLToPath(new URL('clocked-start.ts', import.meta.url));

/** Where a program finds its database, its explorer and its configuration. */
export interface Place {
  readonly databaseUrl: string;
  readonly explorerUrl: string;
  /** Where `explorer-etl.yaml` is. */
  readonly cwd: string;
}

/** A `start` by a clock that runs faster; of what it writes only the end is kept. */
export interface ClockedWorker {
  readonly name: string;
  readonly isRunning: boolean;
  /** Whether it has been at work since it was started. */
  readonly isReady: boolean;
  /** Since it was started, in ms. */
  readonly ageMs: number;
  /** Secrets and stacks that it wrote, with what stood before; empty as it should be. */
  readonly badOutput: readonly string[];
  readonly tail: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit code when it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** The environment of a program at a place, and nothing of ours but the path. */
const environmentOf = ({ databaseUrl, explorerUrl }: Place): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NO_COLOR: '1',
  DATABASE_URL: databaseUrl,
  EXPLORER_BASE_URL: explorerUrl,
  EXPLORER_API_KEY: testKey,
});

/** Characters of what a worker wrote last that are kept, and of a finding that are shown. */
const tailLength = 4_000;
const shownLength = 900;

const stack = /\n\s+at .+:\d+:\d+/u;

/** Starts a worker that Postgres knows by its name. Whoever starts it ends it. */
export function startClockedWorker(name: string, place: Place, clock: RunningClock): ClockedWorker {
  const url = new URL(place.databaseUrl);
  url.searchParams.set('application_name', name);
  const child = spawn(process.execPath, [program], {
    cwd: place.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOf({ ...place, databaseUrl: url.href }),
      CHAOS_CLOCK: JSON.stringify(clock),
    },
  });
  const startedMs = performance.now();
  let tail = '';
  let isReady = false;
  const badOutput: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-tailLength);
      isReady ||= tail.includes('start.ready');
      if (badOutput.length > 0) return;
      const at = Math.max(tail.indexOf(testKey), tail.search(stack));
      if (at >= 0)
        badOutput.push(tail.slice(Math.max(0, at - shownLength / 3)).slice(0, shownLength));
    });
  }
  const ended = once(child, 'close').then(([code]): number | null => code);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    name,
    ended,
    badOutput,
    get isRunning() {
      return isRunning();
    },
    get isReady() {
      return isReady;
    },
    get ageMs() {
      return performance.now() - startedMs;
    },
    get tail() {
      return tail;
    },
    kill(signal) {
      if (isRunning()) child.kill(signal);
    },
  };
}

/** What a command left behind. */
export interface Ended {
  /** Null when it had to be killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that has not ended by then hangs, in ms: the longest reads a whole list again. */
const longestMs = 600_000;

/** Runs `explorer-etl` with these arguments to its end, by the real time of day. */
export async function runCommand(
  args: readonly string[],
  place: Place,
  signal?: AbortSignal,
): Promise<Ended> {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, ...args], {
    cwd: place.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(place),
    killSignal: 'SIGKILL',
    timeout: longestMs,
  });
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill, { once: true });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}
