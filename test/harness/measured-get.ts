/** One page of a simulated explorer, got and parsed in a process of its own that is measured. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createExplorerClient } from '../../src/explorer/client.ts';
import { parseBody } from '../../src/explorer/response.ts';
import { testKey } from './key.ts';

/** What the process is started with, as JSON in its first argument. */
export interface MeasuredGetInput {
  readonly url: string;
  readonly chainId: number;
  /** In place of the client's own limit. */
  readonly maxBodyBytes?: number;
}

/** What it writes to stdout, as JSON. */
export interface MeasuredGet {
  /** What the client threw; null where it took the body. */
  readonly refused: string | null;
  /** How far the process' memory rose above what it had before, in bytes. */
  readonly grownBytes: number;
}

const { url, chainId, ...limit } = JSON.parse(process.argv[2] ?? '') as MeasuredGetInput;
const client = createExplorerClient({
  baseUrl: url,
  apiKey: testKey,
  ...limit,
  random: () => 0,
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
});
const { signal } = new AbortController();
const before = process.memoryUsage.rss();
const refused = await client
  .get(
    { chainId, path: 'proxy/account-abstraction/operations', query: {} },
    { admit: async () => null, read: (body) => parseBody(body), signal },
  )
  .then(
    () => null,
    (error: unknown) => String(error),
  );
await client.close();
const measured: MeasuredGet = {
  refused,
  // `maxRSS` is in kilobytes.
  grownBytes: process.resourceUsage().maxRSS * 1024 - before,
};
process.stdout.write(JSON.stringify(measured));
