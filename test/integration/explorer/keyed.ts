import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { openBudget, type BudgetLane } from '../../../src/explorer/budget.ts';
import { createExplorerClient } from '../../../src/explorer/client.ts';
import { createFetcher } from '../../../src/explorer/fetcher.ts';
import type { SimulatorOptions } from '../../../simulator/index.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { plainChain } from '../../harness/sync.ts';

const chain = { ...plainChain, userOperations: 2 };

/** A simulated service, a database and workers on it, and when each request came, in ms. */
export async function openScene(options: Partial<SimulatorOptions> = {}) {
  const seen: { readonly at: number; readonly status: number }[] = [];
  const simulator = await simulated({
    seed: 1,
    chains: [chain],
    onRequest: ({ status }) => void seen.push({ at: performance.now(), status }),
    ...options,
  });
  const database = await freshDatabase();
  await startAtNoon(database.pool);
  const open = ({ url = simulator.url, ...own }: WorkerOptions & { readonly url?: string } = {}) =>
    openWorker(database, url, own);
  return { simulator, seen, ...database, open };
}

interface WorkerOptions {
  readonly requestsPerSecond?: number;
  readonly dailyCredits?: number;
  readonly maxAttempts?: number;
}

/** A worker as each process has one: `fetch` gets a page for a lane and gives the status of it. */
async function openWorker(
  database: TestDatabase,
  url: string,
  { maxAttempts = 4, ...options }: WorkerOptions = {},
) {
  const pool = createPool({ url: database.url, max: 2, applicationName: 'budget test' });
  pool.options.onConnect = setClock;
  const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
  const now = () => performance.now();
  const client = createExplorerClient({
    baseUrl: url,
    apiKey: testKey,
    secretKey: null,
    proxy: null,
    random: () => 0,
    now,
    sleep,
    maxAttempts,
  });
  onTestFinished(async () => {
    await client.close();
    await pool.end();
  });
  const budget = await openBudget({
    requestsPerSecond: 1000,
    dailyCredits: null,
    limitName: 'daily_credits in a file',
    ...options,
    pool,
    apiKey: testKey,
    sleep,
    now,
  });
  const get = createFetcher({ client, budget, by: pool });
  const request = {
    chainId: chain.id,
    operation: 'user-operations',
    path: 'proxy/account-abstraction/operations',
    query: { page_size: 1 },
  };
  return {
    budget,
    fetch: (lane: BudgetLane = 'live') => get({ ...request, lane }, new AbortController().signal),
  };
}

/** What a promise rejects with; null when it does not. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

/** A pool awaits what `onConnect` returns; its types do not say so. */
const setClock = (session: Pool | ClientBase): unknown =>
  session.query('set search_path = other_clock, pg_catalog');

/**
 * Sets the clock of a pool to noon, so that no midnight, when credits come back, falls into a test; another pool of the
 * database does so with `setClock`.
 */
async function startAtNoon(pool: Pool): Promise<void> {
  // `now()` and `clock_timestamp()` are other functions than Postgres' from now on.
  await pool.query(`
    do $$
    declare
      shift interval := date_trunc('day', now(), 'utc') + interval '12 hours' - now();
    begin
      create schema other_clock;
      execute format(
        'create function other_clock.now() returns timestamptz language sql stable
           return pg_catalog.now() + %1$L::interval;
         create function other_clock.clock_timestamp() returns timestamptz language sql volatile
           return pg_catalog.clock_timestamp() + %1$L::interval;', shift);
    end
    $$`);
  pool.options.onConnect = setClock;
  await setClock(pool);
}
