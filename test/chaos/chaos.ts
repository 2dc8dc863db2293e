import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Limits, startSimulator } from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createPool } from '../../src/db/pool.ts';
import { configuredLanes } from '../../src/sync/targets.ts';
import { injectFault } from '../harness/faults.ts';
import { testKey } from '../harness/key.ts';
import { Worker, type ProgramEnvironment } from '../harness/process.ts';
import type { WorkerSettings } from '../harness/worker-process.ts';
import { seededRandom } from '../harness/random.ts';
import { openDatabaseProxy } from '../harness/servers.ts';
import { injectOne, type Scene } from './faults.ts';
import { WorldClock } from './clock.ts';
import { openCron } from './cron.ts';
import { endAsPerson, openRunsAfter } from './ending.ts';
import { chaosFaults } from './explorer-faults.ts';
import {
  chainOf,
  clockRate,
  configOf,
  latencyMs,
  leashMs,
  longFromMs,
  requestsPerSecond,
} from './world.ts';

export interface ChaosPlan {
  readonly databaseUrl: string;
  readonly seed: number;
  /** How long the world moves and things go wrong, in ms, after it has been copied once. */
  readonly lengthMs: number;
  readonly workers: number;
  /** Stops the database's server and starts it again, at the same URL; never if absent. */
  readonly restartServer?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface ChaosResult {
  /** How often each thing was done, by its name. */
  readonly injected: Readonly<Record<string, number>>;
  readonly explorerFaults: Readonly<Record<string, number>>;
  /** Transactions that the server ended, as they waited for each other. */
  readonly deadlocks: number;
  readonly requests: number;
  readonly pages: number;
  /** Those of them that were stored before all was left alone. */
  readonly pagesInChaos: number;
  /** How far the world has moved, in simulated minutes. */
  readonly minutesOfWorld: number;
  /** How long the coming to rest took, and what a person did then, in ms. */
  readonly restMs: number;
  readonly endingMs: number;
  /** The most requests that the explorer counted within one second; `limit` is what is allowed. */
  readonly busiestSecond: number;
  readonly limit: number;
  /** Everything that is not as it should be; empty when all is well. */
  readonly faults: Readonly<Record<string, unknown>>;
}

/** Time between two faults, in ms, at most; the mean is half of it, and a start takes a second. */
const mostCalmMs = { short: 2_000, long: 6_000 };
/** Rests after failures have grown by then; who has not come to rest by then hangs, in ms. */
const restBoundMs = 900_000;
/** A first copy while all that can goes wrong; one that takes longer hangs, in ms. */
const copyBoundMs = 900_000;
const pollMs = 100;
/** A `start` that has not stopped by then hangs, in ms. */
const stopBoundMs = 240_000;
/** A worker that is not at work by then met a database that swallowed its first words, in ms. */
const startBoundMs = 60_000;
/** Short, so that a database that swallows what it is sent is found within a minute. */
const dbTimeouts = { statementMs: 8_000, answerMs: 10_000, idleTransactionMs: 5_000 };
/** How long before the real time of day the workers' begins: it never reaches the commands', in ms. */
const daysBeforeMs = 5 * 86_400_000;

/**
 * Workers follow a chain that moves while they are killed and stopped, their database is cut off and
 * broken, and the explorer fails and changes its limits. What is done follows from the seed, when it
 * takes effect does not. Then all is left alone, a person asks for what is new, and what is stored
 * is held against the truth.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosResult> {
  await using stack = new AsyncDisposableStack();
  const world = await openChaos(plan, stack);
  const { cron, clock, simulator, pool, counts } = world;
  await beChaotic(plan, world);
  world.calm();
  const calmMs = performance.now();
  const pagesInChaos = await pagesOf(pool);
  const atMs = clock.freeze();
  await cron.stop();
  const faults: Record<string, unknown> = await comeToRest(world, plan.signal);
  if (atMs === 0) faults['the world was not copied in time'] = true;
  const restedMs = performance.now();
  const { place, chain, note } = world;
  const rest = { pool, seed: plan.seed, chain, atMs, place, note, signal: plan.signal };
  Object.assign(faults, await endAsPerson(rest), badOutput(world.all));
  return {
    injected: { ...counts.injected, ...(cron.missed > 0 && { 'runs not sent': cron.missed }) },
    explorerFaults: counts.faults,
    deadlocks: await deadlocksOf(pool),
    requests: simulator.requests,
    pages: await pagesOf(pool),
    pagesInChaos,
    minutesOfWorld: Math.round(atMs / 60_000),
    restMs: Math.round(restedMs - calmMs),
    endingMs: Math.round(performance.now() - restedMs),
    busiestSecond: simulator.busiestSecond,
    limit: requestsPerSecond,
    faults,
  };
}

type Chaos = Awaited<ReturnType<typeof openChaos>>;

async function openChaos(plan: ChaosPlan, stack: AsyncDisposableStack) {
  const { databaseUrl, seed } = plan;
  const random = seededRandom(seed);
  const chain = chainOf(seed, plan.lengthMs);
  const clock = new WorldClock({ rate: clockRate, leashMs });
  const counts = { injected: {} as Record<string, number>, faults: {} as Record<string, number> };
  const count = (kind: keyof typeof counts) => (name: string) => {
    counts[kind][name] = (counts[kind][name] ?? 0) + 1;
  };
  let isCalm = false;
  let limits: Limits = { requestsPerSecond };
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    latencyMs,
    clock: () => clock.nowMs,
    limits: () => limits,
    faults: chaosFaults({
      isShort: plan.lengthMs < longFromMs,
      isCalm: () => isCalm,
      note: count('faults'),
    }),
  });
  stack.defer(() => simulator.close());
  const proxy = await openDatabaseProxy(databaseUrl);
  stack.defer(() => proxy.close());
  const cwd = await mkdtemp(join(tmpdir(), 'explorer-etl-chaos-'));
  stack.defer(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'explorer-etl.yaml'), JSON.stringify(configOf(chain)));
  const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'watch' });
  stack.defer(() => pool.end());
  const { chains } = loadSettings({ env: { EXPLORER_API_KEY: testKey }, cwd });
  const lanes = configuredLanes(chains);
  const cron = await openCron({ databaseUrl, pool, lanes, clock });
  stack.defer(() => cron.close());
  const place: ProgramEnvironment = { databaseUrl, explorerUrl: simulator.url, cwd };
  const all: Worker[] = [];
  stack.defer(async () => {
    for (const worker of all) worker.kill('SIGKILL');
    await Promise.all(all.map(({ exit }) => exit));
  });
  const sinceMs = Date.now();
  const length = plan.lengthMs * clockRate;
  const clocked: WorkerSettings = {
    clock: { sinceMs, instantMs: sinceMs - length - daysBeforeMs, rate: clockRate },
    dbTimeouts,
  };
  let started = 0;
  const start = () => {
    const name = `chaos-${(started += 1)}`;
    const worker = new Worker({ ...place, databaseUrl: proxy.url, name }, clocked);
    all.push(worker);
    return worker;
  };
  const scene: Scene = {
    workers: Array.from({ length: plan.workers }, start),
    proxy,
    pool,
    random,
    start,
    restartServer: plan.restartServer ?? null,
    setLimits: (wanted) => (limits = wanted),
  };
  const calm = () => {
    isCalm = true;
  };
  const note = count('injected');
  return { scene, simulator, pool, clock, cron, lanes, chain, place, all, counts, note, calm };
}

async function beChaotic(plan: ChaosPlan, chaos: Chaos): Promise<void> {
  const { scene, pool, clock, note, simulator } = chaos;
  const { signal } = plan;
  const work = { pool, requests: () => simulator.requests, isOver: async () => false };
  let endMs = performance.now() + copyBoundMs + plan.lengthMs;
  const calmMs = plan.lengthMs < longFromMs ? mostCalmMs.short : mostCalmMs.long;
  while (performance.now() < endMs) {
    signal?.throwIfAborted();
    const afterMs = Math.max(0, Math.min(scene.random() * calmMs, endMs - performance.now()));
    // A fault that hits the kit's own session as well has been injected.
    const inject = () => injectOne(scene).catch(() => 'fault that missed');
    note((await injectFault({ when: { at: 'start', afterMs }, inject }, work)) ?? 'none');
    superviseWorkers(scene, note);
    // The world begins to move when it has been copied once: until then nobody watches it.
    if (clock.isRunning || !(await isCopied(pool))) continue;
    clock.run();
    endMs = performance.now() + plan.lengthMs;
  }
}

/** A worker that can't reach the database when it starts says so and ends; a supervisor's part. */
function superviseWorkers({ workers, start }: Scene, note: (event: string) => void): void {
  for (const [place, worker] of workers.entries()) {
    if (worker.isRunning && !worker.isReady && worker.ageMs > startBoundMs) {
      note('worker hung at its start, and was killed');
      worker.kill('SIGKILL');
    } else if (!worker.isRunning) {
      note('worker ended by itself, and was started again');
      workers[place] = start();
    }
  }
}

/** What is under way ends, a last run of each lane comes, and the workers are asked to stop. */
async function comeToRest(chaos: Chaos, signal?: AbortSignal): Promise<Record<string, unknown>> {
  const { scene, pool, cron, lanes, note } = chaos;
  const faults: Record<string, unknown> = {};
  const supervise = () => superviseWorkers(scene, note);
  for (const lane of [null, 'live', 'backfill'] as const) {
    await cron.send(lanes.filter((configured) => configured.lane.lane === lane));
    const open = await openRunsAfter(pool, { boundMs: restBoundMs, signal, onPoll: supervise });
    if (open === null) continue;
    faults['did not come to rest'] = open;
    break;
  }
  // One that was started a moment ago would not know yet how to stop.
  while (scene.workers.some(({ isReady }) => !isReady)) {
    supervise();
    await delay(pollMs, undefined, { signal });
  }
  for (const worker of scene.workers) worker.kill('SIGTERM');
  const late = delay(stopBoundMs, 'late' as const);
  for (const [place, worker] of scene.workers.entries()) {
    const exit = await Promise.race([worker.exit, late]);
    if (exit !== 'late' && exit.code === 0) continue;
    faults[`worker ${place} did not stop cleanly: ${JSON.stringify(exit)}`] =
      worker.output.slice(-tailLength);
  }
  return faults;
}

async function isCopied(pool: Pool): Promise<boolean> {
  const { rows } = await pool
    .query<{ copied: boolean | null }>(
      'select bool_and(last_success_at is not null) and count(*) = 3 as copied from etl.feeds',
    )
    .catch(() => ({ rows: [] }));
  return rows[0]?.copied ?? false;
}

async function pagesOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pages: number }>(
    'select count(*)::int as pages from etl.pages',
  );
  return rows[0]?.pages ?? 0;
}

async function deadlocksOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.deadlocks ?? 0;
}

/** Characters of what a worker wrote last that are shown, and of a finding. */
const tailLength = 4_000;
const shownLength = 900;
const stack = /\n\s+at .+:\d+:\d+/u;

function badOutput(workers: readonly Worker[]): Record<string, unknown> {
  const found = workers.flatMap(({ output }) => {
    const at = Math.max(output.indexOf(testKey), output.search(stack));
    return at < 0 ? [] : [output.slice(Math.max(0, at - shownLength / 3)).slice(0, shownLength)];
  });
  return found.length === 0 ? {} : { 'a worker wrote a secret or a stack': found.slice(0, 3) };
}
