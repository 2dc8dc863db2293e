import { type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { demandDocument } from './documents.ts';
import {
  Child,
  spawnMain,
  standing,
  Worker,
  type Exit,
  type ProgramEnvironment,
} from './program.ts';

export { eventually, type ProgramEnvironment, type Worker } from './program.ts';

/**
 * Starts `explorer-etl` with these arguments: this checkout's program, bundled, or `main`. It is killed
 * at the latest when the running test ends.
 */
export function startProgram(
  args: readonly string[],
  environment: ProgramEnvironment,
  main = inject('program'),
): Program {
  return untilTestEnds(new Program(args, spawnMain(args, environment, main)));
}

/** The program: what it prints for machines is a document. */
export class Program extends Child {
  readonly #args: readonly string[];

  constructor(args: readonly string[], child: ChildProcess) {
    super(child);
    this.#args = args;
  }

  override async ended(boundMs: number): Promise<Exit> {
    const exit = await super.ended(boundMs);
    demandDocument(this.#args, { code: exit.code, stdout: this.stdout });
    return exit;
  }
}

/** A child process that is killed at the latest when the running test ends. */
export const watchChild = (child: ChildProcess, read?: ('stdout' | 'stderr')[]): Child =>
  untilTestEnds(new Child(child, read));

function untilTestEnds<Process extends Child>(child: Process): Process {
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await child.exit;
  });
  return child;
}

/** Starts a worker at a time of day, ms since 1970. It is killed when the running test ends. */
export const startWorker = (environment: ProgramEnvironment, instantMs: number): Worker =>
  untilTestEnds(new Worker(environment, { clock: { ...standing, instantMs } }));

/** A folder with this configuration in it, removed when the running test ends. */
export async function configFolder(config: object): Promise<string> {
  const folder = await mkdtemp(inject('directoryPrefix'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
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

/** Whether a process is there. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
