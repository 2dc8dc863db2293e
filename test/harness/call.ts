import { expect } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { plainLook } from '../../src/terminal/look.ts';
import { demandDocument } from './documents.ts';
import { emptyFolder, type Ended } from './process.ts';

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
