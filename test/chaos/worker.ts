import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { testKey } from '../harness/key.ts';

const main = new URL('../../src/main.ts', import.meta.url).pathname;

/** A `start` in a process of its own, known to Postgres by its name. */
export interface NamedWorker {
  /** Its `application_name` in the database. */
  readonly name: string;
  readonly isRunning: boolean;
  /** All that it has written. */
  readonly output: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit code when it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

export interface WorkerPlace {
  readonly databaseUrl: string;
  readonly explorerUrl: string;
  /** Where `explorer-etl.yaml` is. */
  readonly cwd: string;
}

/** Starts a worker. Whoever starts it ends it. */
export function startNamedWorker(name: string, place: WorkerPlace): NamedWorker {
  const url = new URL(place.databaseUrl);
  url.searchParams.set('application_name', name);
  const child = spawn(process.execPath, [main, '--log-level', 'debug', 'start'], {
    cwd: place.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NO_COLOR: '1',
      DATABASE_URL: url.href,
      EXPLORER_BASE_URL: place.explorerUrl,
      EXPLORER_API_KEY: testKey,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close').then(([code]): number | null => code);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    name,
    ended,
    get isRunning() {
      return isRunning();
    },
    get output() {
      return output;
    },
    kill(signal) {
      if (isRunning()) child.kill(signal);
    },
  };
}
