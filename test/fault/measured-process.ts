/** Requests of a simulated explorer in a process of their own, measured from inside. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { SimulatedChain } from '../../simulator/index.ts';
import { createPool } from '../../src/db/pool.ts';
import { createExplorerClient, type Timeouts } from '../../src/explorer/client.ts';
import { parseBody } from '../../src/explorer/response.ts';
import { testKey } from '../harness/key.ts';
import { runSync } from '../harness/sync.ts';

/** What the process is started with, as JSON in its first argument: one sync, or one page of a chain. */
export type MeasuredInput =
  | {
      readonly url: string;
      readonly databaseUrl: string;
      readonly chains: readonly SimulatedChain[];
      readonly operations: readonly string[];
      readonly timeouts: Partial<Timeouts>;
    }
  | {
      readonly url: string;
      readonly chainId: number;
      /** In place of the client's own limit. */
      readonly maxBodyBytes?: number;
    };

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
const results = 'chainId' in input ? [await getPage(input)] : await sync(input);
const measured: Measured = {
  states: results.map(({ state }) => state),
  reasons: results.map(({ reason }) => reason),
  // `maxRSS` is in kilobytes.
  grownBytes: process.resourceUsage().maxRSS * 1024 - before,
};
process.stdout.write(JSON.stringify(measured));

async function sync({ databaseUrl, ...run }: Extract<MeasuredInput, { databaseUrl: string }>) {
  const pool = createPool({ url: databaseUrl, max: 10, applicationName: 'explorer-etl measured' });
  try {
    return await runSync({ url: databaseUrl, pool }, run);
  } finally {
    await pool.end();
  }
}

/** One page of user operations, got and parsed. */
async function getPage({ url, chainId, ...limit }: Extract<MeasuredInput, { chainId: number }>) {
  const client = createExplorerClient({
    baseUrl: url,
    apiKey: testKey,
    ...limit,
    random: () => 0,
    now: () => performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
  });
  const { signal } = new AbortController();
  const request = { chainId, path: 'proxy/account-abstraction/operations', query: {} };
  const outcome = await client
    .repeat(
      async () => {
        const { error, body } = await client.send(request, { signal });
        if (error !== null) throw error;
        return parseBody(body);
      },
      { signal },
    )
    .then(
      () => ({ state: 'finished', reason: null }),
      (error: unknown) => ({ state: 'failed', reason: String(error) }),
    );
  await client.close();
  return outcome;
}
