import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { createPool } from '../../src/db/pool.ts';
import { certify } from '../../src/feeds/certificate.ts';
import {
  startSimulator,
  statusFaults,
  type Fault,
  type SimulatedChain,
} from '../../src/simulator/index.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { testKey } from '../support/key.ts';
import { ledgerFaults } from '../support/ledger.ts';
import { differences } from '../support/tables.ts';
import { strike, type Scene } from './blows.ts';
import { seededRandom } from './random.ts';
import { startNamedWorker, type NamedWorker } from './worker.ts';

export interface ChaosPlan {
  readonly databaseUrl: string;
  readonly seed: number;
  /** How long things go wrong, in ms; the coming to rest follows. */
  readonly lengthMs: number;
  readonly workers: number;
  readonly signal?: AbortSignal;
}

export interface ChaosResult {
  /** How often each thing was done. */
  readonly events: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly pages: number;
  /** Those of them that were stored before all was left alone. */
  readonly pagesInChaos: number;
  /** The most requests that the explorer counted within one second; `limit` is what is allowed. */
  readonly busiestSecond: number;
  readonly limit: number;
  /** Everything that is not as it should be; empty when all is well. */
  readonly faults: Readonly<Record<string, unknown>>;
}

/** Requests a second that the key is configured for. */
const requestsPerSecond = 50;
const latencyMs = 20;
const pageSize = 10;
/** Pages that the lists have for each second, so that there is work all the time. */
const pagesPerSecond = 15;
/** Of all requests, those that a bad day of the service answers with a fault. */
const faultShare = 0.02;
/** Faults that pass by themselves; those that stop a key or a feed for hours have their own tests. */
const passing = ['429-bare', '500', '502-html', '503', '504', '504-html'] as const;

/** Time between two blows, in ms, at most; the mean is half of it, and a start takes a second. */
const mostCalmMs = 6_000;
/** Rests after troubles have grown by then; longer than two of the longest that are met, in ms. */
const restBoundMs = 180_000;
const lookMs = 100;
/** Migrations and the first answers of every list, on a busy machine, in ms. */
const startBoundMs = 60_000;
const firstPages = 3;

/**
 * Workers copy a chain while they are killed and stopped, their database is cut off and the
 * explorer fails now and then. What is done follows from the seed, when it takes effect does not.
 * Then all is left alone, and what is stored is held against the truth.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosResult> {
  const { databaseUrl, seed, signal } = plan;
  const random = seededRandom(seed);
  const chain = chainOf(plan);
  const events: Record<string, number> = {};
  const note = (event: string) => (events[event] = (events[event] ?? 0) + 1);
  let isCalm = false;
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    latencyMs,
    faults: (_request, draw) => {
      const fault = isCalm ? null : drawFault(draw);
      if (fault !== null) note('status' in fault ? `explorer ${fault.status}` : 'explorer page');
      return fault;
    },
  });
  const proxy = await openDatabaseProxy(databaseUrl);
  const cwd = await mkdtemp(join(tmpdir(), 'explorer-etl-chaos-'));
  await writeFile(join(cwd, 'explorer-etl.yaml'), JSON.stringify(configOf(chain)));
  const pool = createPool({ url: databaseUrl, max: 2, applicationName: 'chaos watch' });
  const place = { databaseUrl: proxy.url, explorerUrl: simulator.url, cwd };
  const all: NamedWorker[] = [];
  const start = () => {
    const worker = startNamedWorker(`chaos-${all.length + 1}`, place);
    all.push(worker);
    return worker;
  };
  const scene = { workers: Array.from({ length: plan.workers }, start), proxy, random, start };
  try {
    await atWork(pool, signal);
    const endMs = performance.now() + plan.lengthMs;
    while (performance.now() < endMs) {
      signal?.throwIfAborted();
      await delay(random() * mostCalmMs);
      note(await strike(scene));
      replaceEnded(scene, () => note('worker ended by itself, and was started again'));
    }
    isCalm = true;
    const pagesInChaos = await pagesOf(pool);
    const rested = await atRest(pool, scene, signal);
    const faults = {
      ...(!rested && { 'did not come to rest': await openTicks(pool) }),
      ...(await differences(pool, seed, chain)),
      ...(await ledgerFaults(pool, 'ended')),
      ...(await openPoints(pool)),
      ...badOutput(all),
      ...(simulator.busiestSecond > requestsPerSecond + 1 && {
        'budget exceeded': simulator.busiestSecond,
      }),
    };
    const { requests, busiestSecond } = simulator;
    const pages = await pagesOf(pool);
    return {
      events,
      requests,
      pages,
      pagesInChaos,
      busiestSecond,
      limit: requestsPerSecond,
      faults,
    };
  } finally {
    for (const worker of all) worker.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
    await proxy.close();
    await pool.end();
    await simulator.close();
    await rm(cwd, { recursive: true });
  }
}

function chainOf({ lengthMs }: ChaosPlan): SimulatedChain {
  const pages = Math.ceil((lengthMs / 1000) * pagesPerSecond);
  const batchBlocks = 30;
  return {
    id: 10,
    name: 'optimism',
    family: 'optimism',
    generation: 'v12',
    userOperations: Math.ceil(pages * 0.6) * pageSize,
    batches: {
      first: 1,
      count: Math.ceil((pages * 0.3) / (batchBlocks / pageSize)),
      blocks: batchBlocks,
    },
    factories: Math.ceil(pages * 0.1) * pageSize,
    // Not those that leave something open for `verify`.
    oddities: ['duplicates-across-pages', 'empty-page-with-cursor'],
  };
}

const configOf = ({ id, name, batches: { first, count } }: SimulatedChain) => {
  const schedule = '0 0 1 1 *';
  const batches = { schedule, from_batch: first, to_batch: first + count - 1 };
  return {
    explorer: { requests_per_second: requestsPerSecond, page_size: pageSize },
    chains: [
      {
        id,
        name,
        operations: {
          'user-operations': { schedule },
          'optimism-batch-blocks': batches,
          factories: { schedule },
        },
      },
    ],
  };
};

function drawFault(draw: () => number): Fault | null {
  const drawn = draw() / faultShare;
  if (drawn >= 1) return null;
  const name = passing[Math.floor(drawn * passing.length)];
  return name === undefined ? null : statusFaults[name];
}

/** A worker that can't reach the database when it starts says so and ends; a supervisor's part. */
function replaceEnded({ workers, start }: Scene, onReplace: () => void): void {
  for (const [place, { isRunning }] of workers.entries()) {
    if (isRunning) continue;
    onReplace();
    workers[place] = start();
  }
}

/** Waits for the first pages: a database that is being made is not what is shown here. */
async function atWork(pool: Pool, signal?: AbortSignal): Promise<void> {
  const boundMs = performance.now() + startBoundMs;
  while ((await pagesOf(pool)) < firstPages) {
    signal?.throwIfAborted();
    if (performance.now() > boundMs) throw new Error('no page was stored in time');
    await delay(lookMs);
  }
}

async function atRest(pool: Pool, scene: Scene, signal?: AbortSignal): Promise<boolean> {
  const boundMs = performance.now() + restBoundMs;
  while (performance.now() < boundMs) {
    signal?.throwIfAborted();
    replaceEnded(scene, () => undefined);
    if (await isEnded(pool)) return true;
    await delay(lookMs);
  }
  return false;
}

async function hasTables(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ there: boolean }>(
    "select to_regclass('etl.ticks') is not null as there",
  );
  return rows[0]?.there ?? false;
}

async function isEnded(pool: Pool): Promise<boolean> {
  if (!(await hasTables(pool))) return false;
  const { rows } = await pool.query<{ ended: boolean }>(
    `select count(*) >= 3 and bool_and(state <> 'open') as ended from etl.ticks`,
  );
  return rows[0]?.ended ?? false;
}

async function openTicks(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select operation, lane, troubles from etl.ticks where state = 'open'`,
  );
  return rows;
}

async function pagesOf(pool: Pool): Promise<number> {
  if (!(await hasTables(pool))) return 0;
  const { rows } = await pool.query<{ pages: number }>(
    'select count(*)::int as pages from etl.pages',
  );
  return rows[0]?.pages ?? 0;
}

/** What `verify` calls open. */
async function openPoints(pool: Pool): Promise<Record<string, unknown>> {
  const feeds = await certify(drizzle(pool));
  return Object.fromEntries(
    feeds.flatMap(({ feed, open }) =>
      open.length === 0 ? [] : [[`${feed} is open`, open.slice(0, 3)]],
    ),
  );
}

/** Secrets and stacks that a worker wrote. */
function badOutput(workers: readonly NamedWorker[]): Record<string, unknown> {
  const said = workers.map(({ output }) => output).join('');
  return {
    ...(said.includes(testKey) && { 'the output has the key': true }),
    ...(/\n\s+at .+:\d+:\d+/u.test(said) && {
      'the output has a stack': said
        .slice(Math.max(0, said.search(/\n\s+at .+:\d+:\d+/u) - 300))
        .slice(0, 900),
    }),
  };
}
