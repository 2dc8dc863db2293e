import type { Pool } from 'pg';
import type { Limits, SimulatedChain } from '../../simulator/index.ts';
import { drawsOf } from '../../simulator/random.ts';
import { rankingNames } from '../../simulator/rankings.ts';
import { explorerFaults, injectOne, requestsPerSecond, type Scene } from './chaos-faults.ts';
import { databaseAt } from '../harness/database.ts';
import { playFaults, type Fault } from '../harness/faults.ts';
import { testKey } from '../harness/explorer.ts';
import { foundBy, ledgerFaults } from '../harness/ledger.ts';
import { startProgram, type Worker } from '../harness/process.ts';
import { watchedDifferences } from '../harness/tables.ts';
import { truthAt } from '../truth/truth.ts';
import { chainOfSeed, type DrivenWorld, openDrivenWorld } from '../harness/world.ts';

export interface ChaosPlan {
  readonly databaseUrl: string;
  readonly seed: number;
  /** How long the world moves and things go wrong, in ms, after it has been copied once. */
  readonly lengthMs: number;
  readonly workers: number;
  /** Stops the database's server and starts it again, at the same URL; null: never. */
  readonly restartServer: (() => Promise<void>) | null;
}

/** Time between two faults, in ms, at most; the mean is half of it, and a start takes a second. */
const mostCalmMs = { short: 2_000, long: 6_000 };
/** A first copy while all that can goes wrong, and the rests after failures: what takes longer hangs, in ms. */
const boundMs = 900_000;
/** A `start` that has not stopped by then hangs, in ms. */
const stopBoundMs = 240_000;
/** A worker that is not at work by then met a database that swallowed its first words, in ms. */
const startBoundMs = 60_000;
/** A command that has not ended by then hangs, in ms: the longest reads a whole list again. */
const commandBoundMs = 600_000;
/** Short, so that a database that swallows what it is sent is found within a minute. */
const dbTimeouts = {
  answerMs: 10_000,
  server: { statement_timeout: 8_000, idle_in_transaction_session_timeout: 5_000 },
};

const latencyMs = 20;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** How far the world moves with each request, and at most before it is looked at, in simulated ms. */
const requestMs = 1_000;
const leashMs = 5 * minuteMs;
/** How far it moves when it has been looked at, in simulated ms; the ranking is read at every fifth time. */
const runMs = 5 * minuteMs;
const runsPerRanking = 5;
/** How soon an operation may leave the list again: far longer than a poll of its head takes. */
const soonestOrphanedMs = hourMs;

/** Below it a run is short: no more history than is read in seconds, and no answers of minutes, in ms. */
const longFromMs = 60_000;

/** Half of what the key may ask for is needed to follow all that moves; what is left is for failures. */
const chainOf = (seed: number, isShort: boolean): SimulatedChain => ({
  ...chainOfSeed(seed),
  userOperations: isShort ? 250 : 900,
  batches: { first: 1, count: isShort ? 4 : 8, blocks: 30 },
  gapsPercent: 3,
  factories: 60,
  otherRankings: 30,
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
  ...Object.fromEntries(rankingNames.map((name) => [name, {}])),
};

/**
 * Workers follow a chain that moves while they are killed and stopped, their database is cut off and
 * broken, and the explorer fails and changes its limits. What is done follows from the seed, when it
 * takes effect does not. Then all is left alone, a person asks for what is new, and what is stored
 * is held against the truth.
 *
 * @returns what was done and seen, and `faults`: everything that is not as it should be, empty when all is well
 */
export async function runChaos(plan: ChaosPlan) {
  const chaos = await openChaos(plan);
  const { simulator, counts, pool, world } = chaos;
  await playFaults(faultsOf(plan, chaos), {
    pool,
    requests: () => simulator.requests,
    isOver: async () => false,
  });
  chaos.calm();
  world.allow(0);
  const calmMs = performance.now();
  const pagesInChaos = await count(pool, 'select count(*) from etl.pages');
  const faults: Record<string, unknown> = await comeToRest(chaos);
  if (world.nowMs === 0) faults['the world was not copied in time'] = true;
  const restedMs = performance.now();
  Object.assign(faults, await endAsPerson(chaos), badOutput(world.started));
  const { busiestSecond } = simulator;
  if (busiestSecond > requestsPerSecond + 1) faults['budget exceeded'] = busiestSecond;
  return {
    injected: counts.injected,
    explorerFaults: counts.faults,
    deadlocks: await count(
      pool,
      'select deadlocks as count from pg_stat_database where datname = current_database()',
    ),
    requests: simulator.requests,
    pages: await count(pool, 'select count(*) from etl.pages'),
    pagesInChaos,
    minutesOfWorld: Math.round(world.nowMs / minuteMs),
    restMs: Math.round(restedMs - calmMs),
    endingMs: Math.round(performance.now() - restedMs),
    busiestSecond,
    limit: requestsPerSecond,
    faults,
  };
}

type Chaos = Awaited<ReturnType<typeof openChaos>>;

async function openChaos({ databaseUrl, seed, lengthMs, workers, restartServer }: ChaosPlan) {
  const isShort = lengthMs < longFromMs;
  const counts = { injected: {} as Record<string, number>, faults: {} as Record<string, number> };
  const noteIn = (kind: keyof typeof counts) => (name: string) => {
    counts[kind][name] = (counts[kind][name] ?? 0) + 1;
  };
  let isCalm = false;
  let limits: Limits = { requestsPerSecond };
  const database = databaseAt(databaseUrl, 4, 'watch');
  const { pool } = database;
  const world = await openDrivenWorld({
    seed,
    chain: chainOf(seed, isShort),
    database,
    operations,
    explorer: { requests_per_second: requestsPerSecond, page_size: 10 },
    workers,
    requestMs,
    dbTimeouts,
    latency: () => latencyMs,
    limits: () => limits,
    faults: explorerFaults({ isShort, isCalm: () => isCalm, note: noteIn('faults') }),
  });
  const scene: Scene = {
    crew: world.crew,
    proxy: world.proxy,
    pool,
    random: drawsOf(seed)('chaos', 0),
    restartServer,
    setLimits: (wanted) => (limits = wanted),
  };
  const { simulator } = world;
  const calm = () => void (isCalm = true);
  return { world, simulator, pool, scene, counts, calm, note: noteIn('injected') };
}

/** Faults for as long as the plan says, once all has been copied; drawn as they come. */
function* faultsOf(plan: ChaosPlan, chaos: Chaos): Generator<Fault<void>> {
  const { scene, note, world } = chaos;
  const calmMs = plan.lengthMs < longFromMs ? mostCalmMs.short : mostCalmMs.long;
  let endMs = performance.now() + boundMs + plan.lengthMs;
  const follow = createFollower(chaos);
  const inject = async () => {
    // A fault that hits the kit's own session as well has been injected.
    note(await injectOne(scene).catch(() => 'fault that missed'));
    await superviseWorkers(chaos);
    const before = world.nowMs;
    await follow().catch(() => note('runs not sent'));
    // The world begins to move when it has been copied once: until then nothing reads it.
    if (before === 0 && world.nowMs > 0) endMs = performance.now() + plan.lengthMs;
  };
  while (performance.now() < endMs) {
    const afterMs = Math.max(0, Math.min(scene.random.part() * calmMs, endMs - performance.now()));
    yield { when: { requests: 0, moment: afterMs }, inject };
  }
}

/**
 * Sends runs as a schedule does. The world moves on only when the heads of its lists have been polled since it moved
 * last: what comes and goes unobserved is not seen, and could not be held against the truth.
 */
function createFollower({ world, pool }: Chaos): () => Promise<void> {
  let moves = 0;
  let movedAt = 0;
  return async () => {
    const isSeen = moves === 0 ? world.areCopied() : hasPolled(pool, movedAt);
    if (await isSeen) {
      movedAt = Date.now();
      moves += 1;
      await world.setTime(world.nowMs + runMs);
      world.allow(leashMs);
    } else if (moves === 0) return;
    const isRanking = moves % runsPerRanking === 0;
    const isDue = (operation: string) =>
      isRanking || !rankingNames.some((name) => name === operation);
    await world.sendRuns(world.lanes.filter(({ lane }) => isDue(lane.operation)));
  };
}

async function hasPolled(pool: Pool, sinceMs: number): Promise<boolean> {
  const polled = await count(
    pool,
    `select count(distinct operation) from etl.runs
     where operation in ('user-operations', 'bundles') and lane = 'live' and state = 'finished'
       and opened_at > to_timestamp(${sinceMs / 1000})`,
  );
  return polled === 2;
}

/** A worker that can't reach the database when it starts says so and ends; a supervisor's part. */
async function superviseWorkers({ world: { crew }, note }: Chaos): Promise<void> {
  for (const worker of crew.members) {
    if (worker.isReady || worker.ageMs <= startBoundMs || !worker.isRunning) continue;
    note('worker hung at its start, and was killed');
    worker.kill('SIGKILL');
  }
  const started = await crew.fill();
  for (let _ = 0; _ < started; _ += 1) note('worker ended by itself, and was started again');
}

/** What is under way ends, a last run of each lane comes, and the workers are asked to stop. */
async function comeToRest(chaos: Chaos): Promise<Record<string, unknown>> {
  const { world } = chaos;
  const supervised = (poll: () => Promise<boolean>) =>
    world.until(async () => {
      await superviseWorkers(chaos);
      return poll();
    }, boundMs);
  for (const lane of [null, 'live', 'backfill'] as const) {
    await world.sendRuns(world.lanes.filter((configured) => configured.lane.lane === lane));
    await supervised(() => world.isAtRest());
  }
  // One that was started a moment ago would not know yet how to stop.
  await supervised(async () => world.crew.members.every(({ isReady }) => isReady));
  const exits = await world.crew.stop(stopBoundMs);
  if (exits.every(({ code }) => code === 0)) return {};
  const tails = world.crew.members.map(({ output }) => output.slice(-tailLength));
  return { 'a worker did not stop cleanly': { exits, tails } };
}

/**
 * Rounds of `sync` and `backfill --again` until the tables are true. A poll above the newest batch asks
 * for one number, so one behind a gap may take some; and an operation that has left between two
 * walks side by side is seen to when the pages fall otherwise (src/sync/SPEC.md, known gaps).
 */
const mostRounds = 8;

/**
 * Weeks later a person has the lists read to their present end, and does what `verify` asks for.
 *
 * @returns everything that is not as it should be
 */
async function endAsPerson(chaos: Chaos): Promise<Record<string, unknown>> {
  const { world, note } = chaos;
  const faults: Record<string, unknown> = {};
  const run = async (...args: string[]) => {
    const program = startProgram(args, world.place);
    const { code } = await program.ended(commandBoundMs);
    if (code !== 0) faults[`${args.join(' ')}: exit code ${code}`] = program.output.slice(-2000);
    return program.stdout;
  };
  let found = await tableFaults(world);
  for (let round = 0; round < mostRounds && (round === 0 || found !== null); round += 1) {
    note('closing round');
    await run('sync', '--quiet');
    await run('backfill', '--again', '--operation', 'user-operations', 'bundles', '--quiet');
    found = await tableFaults(world);
  }
  // An item that the service damaged once is no row by any version's rules, and its sound successor is
  // one already, as the tables show: a person who has looked at it drops it.
  await startProgram(['quarantine', 'retry'], world.place).ended(commandBoundMs);
  const { items } = JSON.parse(await run('quarantine', 'list', '--json')) as {
    readonly items: readonly { id: number }[];
  };
  for (const { id } of items) {
    note('damaged item dropped');
    await run('quarantine', 'drop', '--id', String(id));
  }
  await run('repair');
  await run('verify');
  return {
    ...faults,
    ...(await tableFaults(world)),
    ...(await foundBy(world.database.pool, lasting)),
  };
}

async function tableFaults(world: DrivenWorld): Promise<Record<string, unknown> | null> {
  const { seed, chain, nowMs } = world;
  const { pool } = world.database;
  const known = {
    ...(await knownRanks(world)),
    block_reorgs: visibleReorgs(truthAt(seed, chain, {}, nowMs).block_reorgs),
  };
  const found = {
    ...(await watchedDifferences(pool, { seed, chain, scope: {} }, nowMs, known)),
    ...(await ledgerFaults(pool, 'under-way')),
  };
  return Object.keys(found).length === 0 ? null : found;
}
/** Of a ranked item that is missing only the counts that a ranking saw last can be known. */
async function knownRanks({ database: { pool }, seed, chain, nowMs }: DrivenWorld) {
  const tables = truthAt(seed, chain, { operations: rankingNames }, nowMs);
  const known: Record<string, Record<string, unknown>[]> = {};
  for (const table of rankingNames) {
    const { rows } = await pool.query<Record<string, unknown>>(
      `select * from explorer.${table} where chain_id = $1`,
      [chain.id],
    );
    const stored = new Map(rows.map((row) => [row['address_hash'], row]));
    known[table] = tables[table].map((row) => {
      const last = row['rank'] === null ? stored.get(row['address_hash']) : undefined;
      const counts = Object.entries(last ?? {}).filter(([name]) => name.startsWith('total_'));
      return {
        ...row,
        ...Object.fromEntries(counts.map(([name, count]) => [name, Number(count)])),
      };
    });
  }
  return known;
}

type Reorgs = ReturnType<typeof truthAt>['block_reorgs'];

/**
 * All that one who checks now and then may see of reorganisations, the oldest first: of several that a
 * block went through between two checks, that its first hash became the last.
 */
function visibleReorgs(reorgs: Reorgs): Reorgs {
  const ofHeights = Map.groupBy(reorgs, ({ height }) => height);
  return [...ofHeights.values()].flatMap((steps) =>
    steps.flatMap((first, place) =>
      steps.slice(place).map((last) => ({ ...first, new_hash: last['new_hash'] })),
    ),
  );
}

/** Walks may have failed on the way, and runs with them; nothing may be left that is under way. */
const lasting = {
  'a walk is under way': `
    select walks.* from etl.walks join etl.runs on runs.id = run_id
    where walks.state = 'running' and runs.state in ('open', 'interrupted')`,
  'a run is open': "select * from etl.runs where state = 'open'",
  'a feed is not at rest': 'select * from etl.feeds where reason is not null',
};

const count = async (pool: Pool, query: string): Promise<number> =>
  Number((await pool.query<{ count: string }>(query)).rows[0]?.count);

const stack = /\n\s+at .+:\d+:\d+/u;
/** Characters of what a worker wrote last that are shown, and of a finding. */
const tailLength = 4_000;
const shownLength = 900;

function badOutput(workers: readonly Worker[]): Record<string, unknown> {
  const found = workers.flatMap(({ output }) => {
    const at = Math.max(output.indexOf(testKey), output.search(stack));
    return at < 0 ? [] : [output.slice(Math.max(0, at - shownLength / 3)).slice(0, shownLength)];
  });
  return found.length === 0 ? {} : { 'a worker wrote a secret or a stack': found.slice(0, 3) };
}
