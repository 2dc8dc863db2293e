import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openEngine } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/version.ts';
import { createLog } from '../log.ts';
import { openDatabase } from '../open-database.ts';
import { programFile } from '../package-file.ts';
import { syncOnce, type SyncTarget } from '../sync/once.ts';
import { type Context, type ExitCode, exitCodes, UsageError } from './context.ts';

/** What a worker of the demo is to do. It comes as a message: arguments are for everybody to see. */
export interface Assignment {
  /** Names the key and the database. */
  readonly settings: Settings & { readonly databaseUrl: string };
  readonly targets: readonly SyncTarget[];
  readonly origin: string;
}

/** A worker in a process of its own. */
export interface DemoWorker {
  readonly pid: number;
  /** Whether its process is there. */
  readonly isRunning: boolean;
  work(assignment: Assignment): void;
  /** Ends it by SIGKILL, and resolves when it is gone: whether that is what ended it. */
  kill(): Promise<boolean>;
}

/** As for every process of the program (bin/explorer-etl.js has the reason). */
const flags = ['--max-semi-space-size=16'];

/** Starts a worker that waits for its assignment. It ends with this process, however that ends. */
export function startDemoWorker({ env, cwd }: Pick<Context, 'env' | 'cwd'>): DemoWorker {
  const child = fork(programFile(), ['demo', '--as-worker'], {
    cwd,
    env,
    execArgv: flags,
    // It says nothing: what it does is in the ledger, and its failures are the next worker's too.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal));
    // Where no process could be started.
    child.once('error', () => resolve(null));
  });
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    get isRunning() {
      return isRunning();
    },
    work: (assignment) => void (child.connected && child.send(assignment, () => undefined)),
    async kill() {
      if (isRunning()) child.kill('SIGKILL');
      return (await ended) === 'SIGKILL';
    },
  };
}

// eslint-disable-next-line unicorn/no-process-exit -- nobody is left to work for, as after a kill
const leave = () => process.exit(exitCodes.interrupted);

/** The other side: works on what it is told until it is done, killed, or the demo is gone. */
export async function workForDemo({ signal, cwd }: Context): Promise<ExitCode> {
  if (process.send === undefined) throw new UsageError('--as-worker is for the demo itself.');
  process.once('disconnect', leave);
  const [{ settings, targets, origin }] = (await once(process, 'message', { signal })) as [
    Assignment,
  ];
  const database = await openDatabase(settings, { cwd });
  try {
    const log = createLog('silent', () => undefined);
    const source = { origin };
    const engine = await openEngine({ settings, database, log, supervise: false, source });
    try {
      await whileCurrent(database.pool, signal, (current) => syncOnce(targets, engine, current));
      return exitCodes.done;
    } finally {
      await engine.close();
    }
  } finally {
    await database.close();
    process.off('disconnect', leave);
    process.disconnect();
  }
}
