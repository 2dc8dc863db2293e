import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts one of this folder's programs, its input as JSON in the first argument. */
export function startChild(
  program: string,
  input: unknown,
  { signal, execArgv = [] }: { readonly signal: AbortSignal; readonly execArgv?: string[] },
): ChildProcess {
  return fork(join(import.meta.dirname, program), [JSON.stringify(input)], { signal, execArgv });
}

/** The first message of a child. Rejects when it ends without one. */
export async function answerOf<Output>(child: ChildProcess): Promise<Output> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`a measured process ended with ${code} before it answered`);
  });
  const answer = once(child, 'message', { signal: ended.signal });
  try {
    const [message] = (await Promise.race([answer, exit])) as [Output];
    return message;
  } finally {
    ended.abort();
    await Promise.allSettled([answer, exit]);
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
