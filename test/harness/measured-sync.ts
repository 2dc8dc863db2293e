/** One sync of simulated chains in a process of its own, measured from inside. */
import { createPool } from '../../src/db/pool.ts';
import type { Timeouts } from '../../src/explorer/client.ts';
import type { SimulatedChain } from '../../simulator/index.ts';
import { runSync } from './sync.ts';

/** What the process is started with, as JSON in its first argument. */
export interface MeasuredInput {
  readonly url: string;
  readonly databaseUrl: string;
  readonly chains: readonly SimulatedChain[];
  /** User operations alone if absent. */
  readonly operations?: readonly string[];
  readonly timeouts?: Partial<Timeouts>;
}

/** What it writes to stdout, as JSON. */
export interface Measured {
  readonly states: readonly string[];
  readonly reasons: readonly (string | null)[];
  /** How far its memory rose above what it had before the sync, in bytes. */
  readonly grownBytes: number;
}

const {
  url,
  databaseUrl,
  chains,
  operations = ['user-operations'],
  timeouts,
} = JSON.parse(process.argv[2] ?? '') as MeasuredInput;
const before = process.memoryUsage.rss();
const pool = createPool({ url: databaseUrl, max: 10, applicationName: 'explorer-etl measured' });
const results = await runSync(
  { url: databaseUrl, pool },
  {
    url,
    chains,
    operations,
    ...(timeouts !== undefined && { timeouts }),
  },
);
await pool.end();
const measured: Measured = {
  states: results.map(({ state }) => state),
  reasons: results.map(({ reason }) => reason),
  // `maxRSS` is in kilobytes.
  grownBytes: process.resourceUsage().maxRSS * 1024 - before,
};
process.stdout.write(JSON.stringify(measured));
