import { answerOf, startChild } from './child.ts';
import { withClient } from '../test/harness/client.ts';

export interface SyncInput {
  readonly databaseUrl: string;
  /** Of the server, to find its processes. */
  readonly dataDirectory: string;
  readonly explorerUrl: string;
  /** Absent: no limit. */
  readonly requestsPerSecond?: number;
  /** After how many pages the process's memory is looked at, ascending. */
  readonly memoryAtPages: readonly number[];
}

/** What the process held after so many pages; the heap is measured after a collection. */
export interface MemorySample {
  readonly pages: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

export interface SyncMeasure {
  readonly pages: number;
  /** From the first request to the last commit. */
  readonly walkMs: number;
  /** From the start of the process: loading, migrating and closing included. */
  readonly commandMs: number;
  /** Processor time from the first request on. */
  readonly nodeCpuMs: number;
  /** The same from the start of the process. */
  readonly processCpuMs: number;
  /** The same of all of Postgres's processes; null if the system does not report it. */
  readonly postgresCpuMs: number | null;
  readonly memory: readonly MemorySample[];
}

/** Brings one feed up to date in a process of its own. */
export async function measureSync(
  input: SyncInput,
  signal: AbortSignal,
  program = 'sync-process.ts',
): Promise<SyncMeasure> {
  // What others wrote before is not this run's to flush.
  await withClient(input.databaseUrl, (client) => client.query('checkpoint'));
  // As package.json starts the program.
  const flags = ['--max-semi-space-size=8'];
  const execArgv = input.memoryAtPages.length === 0 ? flags : [...flags, '--expose-gc'];
  const child = startChild(program, input, { signal, execArgv });
  const measure = await answerOf<SyncMeasure>(child);
  await child.exited;
  return measure;
}
