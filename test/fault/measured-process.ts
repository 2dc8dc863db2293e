/** A sync in a process of its own, measured from inside. */
import { createPool } from '../../src/db/pool.ts';
import { runSync, type SyncRun } from '../harness/sync.ts';

/** What the process is started with, as JSON in its first argument. */
export interface MeasuredInput extends SyncRun {
  readonly databaseUrl: string;
}

const input = JSON.parse(process.argv[2] ?? '') as MeasuredInput;
const before = process.memoryUsage.rss();
const results = await sync(input);
/** What it writes to stdout, as JSON: how each run ended, and why, and how far its memory rose, in bytes. */
const measured = {
  states: results.map(({ state }) => state),
  reasons: results.map(({ reason }) => reason),
  // `maxRSS` is in kilobytes.
  grownBytes: process.resourceUsage().maxRSS * 1024 - before,
};
process.stdout.write(JSON.stringify(measured));

export type Measured = typeof measured;

async function sync({ databaseUrl, ...run }: MeasuredInput) {
  const pool = createPool({ url: databaseUrl, max: 10, applicationName: 'explorer-etl measured' });
  try {
    return await runSync({ url: databaseUrl, pool }, run);
  } finally {
    await pool.end();
  }
}
