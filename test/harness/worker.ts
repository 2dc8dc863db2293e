import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { watchChild, type Exit, type ProgramEnvironment } from './process.ts';
import { testKey } from './sync.ts';
import type { TimeMessage } from './worker-process.ts';

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
