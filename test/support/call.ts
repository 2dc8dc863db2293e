import { expect } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { emptyFolder, type Ended } from './child.ts';

/** The same program without a process around it, which costs a second each. */
export async function call(
  args: readonly string[],
  { env = {}, cwd }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  const code = await runProgram(args, {
    env,
    cwd: cwd ?? (await emptyFolder()),
    signal: new AbortController().signal,
    stdout: (text) => void (output.stdout += text),
    stderr: (text) => void (output.stderr += text),
    isTerminal: false,
  });
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
