import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { demandDocument } from './documents.ts';
import { hangMs } from './hang.ts';
import { Child } from './program.ts';

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

/** A folder that is removed when the running test ends. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'explorer-etl-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `explorer-etl` with these arguments in a process of its own, to its end. */
export async function command(
  args: readonly string[],
  { env = {}, cwd, until }: CommandOptions = {},
): Promise<Ended> {
  const started = spawn(process.execPath, [inject('program'), ...args], {
    cwd: cwd ?? (await emptyFolder()),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const child = new Child(started);
  const hung = setTimeout(() => child.kill('SIGKILL'), hangMs);
  try {
    if (until !== undefined) {
      await Promise.race([until(() => child.output, started.pid ?? 0), child.exit]);
      child.kill('SIGTERM');
    }
    const { code } = await child.exit;
    const { stdout, stderr } = child;
    demandDocument(args, { code, stdout });
    return { code, stdout, stderr };
  } finally {
    clearTimeout(hung);
    child.kill('SIGKILL');
  }
}
