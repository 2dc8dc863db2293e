/** A sync in a process of its own, measured from inside. */
import { createPool } from '../../src/db/pool.ts';
import { runSync, type SyncRun } from '../harness/sync.ts';

/** What the process is started with, as JSON in its first argument. */
export interface MeasuredInput extends SyncRun {
  readonly databaseUrl: string;
}

/** What it writes to stdout, as JSON. */
export interface Measured {
  /** How each run ended, and why. */
  readonly states: readonly string[];
  readonly reasons: readonly (string | null)[];
  /** How far its memory rose above what it had before, in bytes. */
  readonly grownBytes: number;
}

const input = JSON.parse(process.argv[2] ?? '') as MeasuredInput;
const before = process.memoryUsage.rss();
const results = await sync(input);
const measured: Measured = {
  states: results.map(({ state }) => state),
  reasons: results.map(({ reason }) => reason),
  // `maxRSS` is in kilobytes.
  grownBytes: process.resourceUsage().maxRSS * 1024 - before,
};
process.stdout.write(JSON.stringify(measured));

async function sync({ databaseUrl, ...run }: MeasuredInput) {
  const pool = createPool({ url: databaseUrl, max: 10, applicationName: 'explorer-etl measured' });
  try {
    return await runSync({ url: databaseUrl, pool }, run);
  } finally {
    await pool.end();
  }
}
