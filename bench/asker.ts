import { drizzle } from 'drizzle-orm/node-postgres';
import { openEngine, prepareDatabase } from '../src/app.ts';
import type { OpenDatabase } from '../src/open-database.ts';
import { loadSettings } from '../src/config/load.ts';
import { createPool } from '../src/db/pool.ts';
import type { BudgetLane } from '../src/explorer/budget.ts';
import { createLog } from '../src/log.ts';
import { readInput, tellParent } from './child.ts';

/** What a process of askers is started with. */
export interface AskerInput {
  readonly databaseUrl: string;
  readonly explorerUrl: string;
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  readonly chainId: number;
}

/** So many askers of each lane, for so long; each asks again as soon as it is answered. */
export type AskerRun = Readonly<Record<BudgetLane, number>> & { readonly ms: number };

/** How long each request waited before it left, in ms. */
export type AskerWaits = Record<BudgetLane, number[]>;

const { databaseUrl, explorerUrl, apiKey, requestsPerSecond, chainId } = readInput() as AskerInput;

const settings = loadSettings({
  cwd: '/',
  env: { EXPLORER_BASE_URL: explorerUrl, EXPLORER_API_KEY: apiKey },
  chains: [String(chainId)],
});
const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'asker' });
const database: OpenDatabase = {
  url: databaseUrl,
  pool,
  db: drizzle(pool),
  embedded: null,
  close: never,
};
// All of them do, as all that start do.
await prepareDatabase(database);
const engine = await openEngine({
  settings: { ...settings, explorer: { ...settings.explorer, requestsPerSecond } },
  database,
  log: createLog('silent', () => undefined),
  supervise: false,
});

process.on('message', (run: AskerRun) => {
  void ask(run).then(tellParent);
});
tellParent('ready');

async function ask({ live, backfill, ms }: AskerRun): Promise<AskerWaits> {
  const waits: AskerWaits = { live: [], backfill: [] };
  const end = performance.now() + ms;
  const askers = [
    ...Array.from({ length: live }, () => askOn('live', end, waits)),
    ...Array.from({ length: backfill }, () => askOn('backfill', end, waits)),
  ];
  await Promise.all(askers);
  return waits;
}

async function askOn(lane: BudgetLane, end: number, waits: AskerWaits): Promise<void> {
  const request = {
    chainId,
    operation: 'user-operations',
    lane,
    path: 'proxy/account-abstraction/operations',
    query: { page_size: 1 },
  };
  while (performance.now() < end) {
    const asked = performance.now();
    const { latencyMs } = await engine.fetchPage(request, new AbortController().signal);
    waits[lane].push(performance.now() - asked - latencyMs);
  }
}

function never(): Promise<never> {
  throw new Error('the process ends with its parent');
}
