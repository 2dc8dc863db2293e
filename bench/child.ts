import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** One of this folder's programs, running. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves when it has ended, however; never rejects. */
  readonly exited: Promise<void>;
}

/** Starts a program, its input as JSON in the first argument. It ends when the signal aborts. */
export function startChild(
  program: string,
  input: unknown,
  { signal, execArgv = [] }: { readonly signal: AbortSignal; readonly execArgv?: string[] },
): Child {
  signal.throwIfAborted();
  const file = join(import.meta.dirname, program);
  const child = fork(file, [JSON.stringify(input)], { execArgv });
  // Not fork's own `signal`: it also emits an error, which ends us before Postgres is stopped.
  // As an interrupted machine does it, which leaves nothing to say goodbye.
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      signal.removeEventListener('abort', kill);
      resolve();
    });
  });
  return { process: child, exited };
}

/** The first message of a child. Rejects when it ends without one. */
export async function answerOf<Output>({ process: child, exited }: Child): Promise<Output> {
  const answered = new AbortController();
  const answer = once(child, 'message', { signal: answered.signal });
  const failure = exited.then(() => {
    throw new Error('a measured process ended before it answered');
  });
  try {
    const [message] = (await Promise.race([answer, failure])) as [Output];
    return message;
  } finally {
    answered.abort();
    answer.catch(() => undefined);
    failure.catch(() => undefined);
  }
}

/** What a child was started with. */
export function readInput(): unknown {
  return JSON.parse(process.argv[2] ?? '');
}

/** Gives the parent its answer. */
export function tellParent(output: unknown): void {
  process.send?.(output);
}

/** Aborted by SIGINT and SIGTERM: Postgres and the children must not outlive an interrupted run. */
export function interruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupted.abort(new Error('interrupted')));
  }
  return interrupted.signal;
}
