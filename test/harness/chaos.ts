import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Limits, SimulatedChain } from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createPool } from '../../src/db/pool.ts';
import { configuredLanes } from '../../src/sync/targets.ts';
import { openChaosCron, WorldClock } from './chaos-cron.ts';
import { endAsPerson } from './chaos-ending.ts';
import { explorerFaults, injectOne, requestsPerSecond, type Scene } from './chaos-faults.ts';
import { Crew } from './crew.ts';
import { areCopied, runsUnderWay } from './cron.ts';
import { atEnd } from './ending.ts';
import { playFaults, type Fault } from './faults.ts';
import { testKey } from './key.ts';
import { Worker } from './process.ts';
import { seededRandom } from './random.ts';
import type { WorkerSettings } from './worker-process.ts';
import { chainOfSeed, openWorld } from './world.ts';

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

/** Simulated ms in a real one: a minute passes in a second. */
const clockRate = 60;
const latencyMs = 20;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How soon an operation may leave the list again: far longer than a poll of its head takes. */
const soonestOrphanedMs = hourMs;
/** how far the world may be ahead of its observer, so that it sees what leaves again. */
const leashMs = soonestOrphanedMs / 2;

/** Below it a run is short: no more history than is read in seconds, and no answers of minutes, in ms. */
const longFromMs = 60_000;

/** Half of what the key may ask for is needed to follow all that moves; what is left is for failures. */
const chainOf = (seed: number, isShort: boolean): SimulatedChain => ({
  ...chainOfSeed(seed),
  userOperations: isShort ? 250 : 900,
  batches: { first: 1, count: isShort ? 4 : 8, blocks: 30 },
  gapsPercent: 3,
  factories: 60,
  bundlers: 40,
  paymasters: 30,
  oddities: ['duplicates-across-pages', 'empty-page-with-cursor'],
  motion: {
    operationsPerMinute: 15,
    blockSeconds: 12,
    latePercent: 3,
    latestLateMs: 3 * hourMs,
    orphanedPercent: 2,
    orphanedAfterMs: [soonestOrphanedMs, 3 * hourMs],
    reorgsPerDay: 288,
    pendingMs: 10 * minuteMs,
    oddBatchesPercent: 10,
    factoryChangeMs: 2 * hourMs,
    absentFactoriesPercent: 10,
    newFactoriesPercent: 10,
  },
});

const resweep = [
  { depth: '20m', every: '20m' },
  { depth: '2h', every: '2h' },
  { depth: '6h', every: '6h' },
];
const operations = {
  'user-operations': { overlap: '2m', resweep },
  'optimism-batch-blocks': {},
  bundles: { overlap: '2m', resweep },
  factories: {},
  bundlers: {},
  paymasters: {},
};
const feeds = Object.keys(operations).length;

/**
 * Workers follow a chain that moves while they are killed and stopped, their database is cut off and
 * broken, and the explorer fails and changes its limits. What is done follows from the seed, when it
 * takes effect does not. Then all is left alone, a person asks for what is new, and what is stored
 * is held against the truth.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosResult> {
  const chaos = await openChaos(plan);
  const { cron, clock, simulator, pool, counts, place, chain, note, seed } = chaos;
  await playFaults(faultsOf(plan, chaos), {
    pool,
    requests: () => simulator.requests,
    isOver: async () => false,
  });
  chaos.calm();
  const calmMs = performance.now();
  const pagesInChaos = await pagesOf(pool);
  const atMs = clock.freeze();
  await cron.stop();
  const faults: Record<string, unknown> = await comeToRest(chaos, plan.signal);
  if (atMs === 0) faults['the world was not copied in time'] = true;
  const restedMs = performance.now();
  const rest = { pool, seed, chain, atMs, place, note, signal: plan.signal };
  Object.assign(faults, await endAsPerson(rest), badOutput(chaos.all));
  const missed = cron.missed();
  return {
    injected: { ...counts.injected, ...(missed > 0 && { 'runs not sent': missed }) },
    explorerFaults: counts.faults,
    deadlocks: await deadlocksOf(pool),
    requests: simulator.requests,
    pages: await pagesOf(pool),
    pagesInChaos,
    minutesOfWorld: Math.round(atMs / minuteMs),
    restMs: Math.round(restedMs - calmMs),
    endingMs: Math.round(performance.now() - restedMs),
    busiestSecond: simulator.busiestSecond,
    limit: requestsPerSecond,
    faults,
  };
}

type Chaos = Awaited<ReturnType<typeof openChaos>>;

async function openChaos({ databaseUrl, seed, lengthMs, workers, restartServer }: ChaosPlan) {
  const isShort = lengthMs < longFromMs;
  const clock = new WorldClock({ rate: clockRate, leashMs });
  const counts = { injected: {} as Record<string, number>, faults: {} as Record<string, number> };
  const count = (kind: keyof typeof counts) => (name: string) => {
    counts[kind][name] = (counts[kind][name] ?? 0) + 1;
  };
  let isCalm = false;
  let limits: Limits = { requestsPerSecond };
  const pool = createPool({ url: databaseUrl, max: 4, applicationName: 'watch' });
  atEnd(() => pool.end());
  const world = await openWorld({
    seed,
    chain: chainOf(seed, isShort),
    database: { url: databaseUrl, pool },
    operations,
    explorer: { requests_per_second: requestsPerSecond, page_size: 10 },
    latency: () => latencyMs,
    clock: () => clock.nowMs,
    limits: () => limits,
    faults: explorerFaults({ isShort, isCalm: () => isCalm, note: count('faults') }),
  });
  const { place, proxy, database } = world;
  const { chains } = loadSettings({ env: { EXPLORER_API_KEY: testKey }, cwd: place.cwd });
  const lanes = configuredLanes(chains);
  const cron = await openChaosCron({ database, lanes, clock });
  const sinceMs = Date.now();
  const instantMs = sinceMs - lengthMs * clockRate - daysBeforeMs;
  const clocked: WorkerSettings = { clock: { sinceMs, instantMs, rate: clockRate }, dbTimeouts };
  const all: Worker[] = [];
  const crew = new Crew(workers, () => {
    const name = `chaos-${all.length + 1}`;
    const worker = new Worker({ ...place, databaseUrl: proxy.url, name }, clocked);
    all.push(worker);
    return worker;
  });
  await crew.fill();
  const scene: Scene = {
    crew,
    proxy,
    pool,
    random: seededRandom(seed),
    restartServer: restartServer ?? null,
    setLimits: (wanted) => (limits = wanted),
  };
  const calm = () => void (isCalm = true);
  return {
    ...world,
    pool,
    scene,
    crew,
    clock,
    cron,
    lanes,
    all,
    counts,
    calm,
    note: count('injected'),
  };
}

/** Faults for as long as the plan says, once all has been copied; drawn as they come. */
function* faultsOf(plan: ChaosPlan, chaos: Chaos): Generator<Fault<void>> {
  const { scene, pool, clock, note } = chaos;
  const calmMs = plan.lengthMs < longFromMs ? mostCalmMs.short : mostCalmMs.long;
  let endMs = performance.now() + copyBoundMs + plan.lengthMs;
  const inject = async () => {
    // A fault that hits the kit's own session as well has been injected.
    note(await injectOne(scene).catch(() => 'fault that missed'));
    await superviseWorkers(chaos);
    // The world begins to move when it has been copied once: until then nobody watches it.
    if (clock.isRunning || !(await areCopied(pool, feeds).catch(() => false))) return;
    clock.run();
    endMs = performance.now() + plan.lengthMs;
  };
  while (performance.now() < endMs) {
    plan.signal?.throwIfAborted();
    const afterMs = Math.max(0, Math.min(scene.random() * calmMs, endMs - performance.now()));
    yield { when: { at: 'start', afterMs }, inject };
  }
}

/** A worker that can't reach the database when it starts says so and ends; a supervisor's part. */
async function superviseWorkers({ crew, note }: Pick<Chaos, 'crew' | 'note'>): Promise<void> {
  for (const worker of crew.members) {
    if (worker.isReady || worker.ageMs <= startBoundMs || !worker.isRunning) continue;
    note('worker hung at its start, and was killed');
    worker.kill('SIGKILL');
  }
  const started = await crew.fill();
  for (let _ = 0; _ < started; _ += 1) note('worker ended by itself, and was started again');
}

/** What is under way ends, a last run of each lane comes, and the workers are asked to stop. */
async function comeToRest(chaos: Chaos, signal?: AbortSignal): Promise<Record<string, unknown>> {
  const { crew, cron, lanes } = chaos;
  const faults: Record<string, unknown> = {};
  for (const lane of [null, 'live', 'backfill'] as const) {
    await cron.send(lanes.filter((configured) => configured.lane.lane === lane));
    const open = await untilAtRest(chaos, signal);
    if (open.length === 0) continue;
    faults['did not come to rest'] = open;
    break;
  }
  // One that was started a moment ago would not know yet how to stop.
  while (crew.members.some(({ isReady }) => !isReady)) {
    await superviseWorkers(chaos);
    await delay(pollMs, undefined, { signal });
  }
  for (const worker of crew.members) worker.kill('SIGTERM');
  for (const [place, worker] of crew.members.entries()) {
    const exit = await worker.ended(stopBoundMs).catch(() => 'late' as const);
    if (exit !== 'late' && exit.code === 0) continue;
    faults[`worker ${place} did not stop cleanly: ${JSON.stringify(exit)}`] =
      worker.output.slice(-tailLength);
  }
  return faults;
}

/** @returns the runs that are still under way when the bound has passed */
async function untilAtRest(chaos: Chaos, signal?: AbortSignal): Promise<object[]> {
  const endMs = performance.now() + restBoundMs;
  for (;;) {
    signal?.throwIfAborted();
    await superviseWorkers(chaos);
    const open = await runsUnderWay(chaos.pool);
    if (open.length === 0 || performance.now() > endMs) return open;
    await delay(pollMs);
  }
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
