import type { Pool } from 'pg';
import { onTestFailed } from 'vitest';
import {
  type Family,
  type Generation,
  type SimulatedChain,
  type SimulatorOptions,
  startInstantMs,
} from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { DatabaseTimeouts } from '../../src/db/pool.ts';
import { laneName } from '../../src/lists/feed.ts';
import { type ConfiguredLane, configuredLanes } from '../../src/sync/feeds.ts';
import { freshDatabase, type OpenDatabase } from './database.ts';
import { simulated, testKey } from './explorer.ts';
import { configFolder, Crew, eventually, hangMs, Worker } from './process.ts';
import { openDatabaseProxy } from './servers.ts';
import { plainChain } from './sync.ts';

/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
export const yearly = '0 0 1 1 *';

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v12', 'v11', 'v10'];

/** A plain chain, its family and generation as follows from a seed. */
export const chainOfSeed = (seed: number): SimulatedChain => ({
  ...plainChain,
  family: families[(seed - 1) % families.length] ?? 'optimism',
  generation: generations[(seed - 1) % generations.length] ?? 'v12',
});

export interface WorldOptions extends Omit<SimulatorOptions, 'chains' | 'latencyMs'> {
  readonly chain: SimulatedChain;
  /** All that the explorer serves; `chain` alone if absent. */
  readonly chains?: readonly SimulatedChain[];
  /** How long an answer waits, in ms; not at all if absent. */
  readonly latency?: () => number;
  /** What is copied, each with its settings in the configuration; `yearly` if it names no schedule. */
  readonly operations?: Readonly<Record<string, object>>;
  /** The section `explorer` of the configuration. */
  readonly explorer?: object;
  /** A fresh one if absent. */
  readonly database?: OpenDatabase;
  /** The command that runs a failed test again with its seed. */
  readonly repeat?: string;
}

/**
 * Opens a simulated chain, a database, and what a process needs to copy the one into the other; all of it ends with
 * the running test.
 */
export async function openWorld(options: WorldOptions) {
  const {
    chain,
    chains = [chain],
    latency,
    operations = {},
    explorer,
    repeat,
    ...service
  } = options;
  const { seed } = options;
  if (repeat !== undefined) {
    onTestFailed(() => void process.stderr.write(`seed ${seed}; repeat with: ${repeat}\n`));
  }
  const simulator = await simulated({
    ...service,
    chains,
    get latencyMs() {
      return latency?.() ?? 0;
    },
  });
  const database = options.database ?? (await freshDatabase());
  const proxy = await openDatabaseProxy(database.url);
  const scheduled = Object.entries(operations).map(([name, own]) => [
    name,
    { schedule: yearly, ...own },
  ]);
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000, ...explorer },
    chains: [{ id: chain.id, name: chain.name, operations: Object.fromEntries(scheduled) }],
  });
  const place = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  // The proxy cuts sessions off; `place` has the database itself.
  return { seed, chain, simulator, database, proxy, place };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** How often a run is looked at, in ms: a small part of what one takes. */
const pollMs = 4;

interface DrivenOptions extends WorldOptions {
  readonly operations: Readonly<Record<string, object>>;
  readonly workers: number;
  /** Simulated ms that pass with a request, from any process, as far as `allow` says; none if absent. */
  readonly requestMs?: number;
  /** Has the workers reach the database through the proxy, with these limits; else neither. */
  readonly dbTimeouts?: DatabaseTimeouts;
}

/** A chain that moves, and `start` processes that watch it, by one clock that the test drives. */
export async function openDrivenWorld(options: DrivenOptions) {
  const { requestMs = 0, dbTimeouts } = options;
  let nowMs = 0;
  let allowedMs = 0;
  const world = await openWorld({
    ...options,
    clock: () => nowMs,
    onRequest: () => {
      const passedMs = Math.min(requestMs, allowedMs);
      allowedMs -= passedMs;
      nowMs += passedMs;
    },
  });
  const { place, proxy } = world;
  const { pool } = world.database;
  const env = { EXPLORER_API_KEY: testKey };
  const settings = loadSettings({ env, cwd: place.cwd });
  const limits = dbTimeouts === undefined ? {} : { dbTimeouts };
  const reached = dbTimeouts === undefined ? place : { ...place, databaseUrl: proxy.url };
  const instantMs = () => startInstantMs + nowMs;
  const started: Worker[] = [];
  const crew = new Crew(options.workers, () => {
    const name = `worker-${started.length + 1}`;
    const worker = new Worker({ ...reached, name }, { instantMs: instantMs(), ...limits });
    started.push(worker);
    return worker;
  });
  onTestFailed(() => {
    for (const { stderr } of crew.members) process.stderr.write(`${stderr.slice(-3000)}\n---\n`);
  });
  const sendRuns = (lanes: readonly ConfiguredLane[]) => makeDue(pool, lanes);
  await crew.fill();
  const isAtRest = async () => (await runsUnderWay(pool)).length === 0;
  const feeds = Object.keys(options.operations).length;
  const areCopied = async () => {
    const [row] = await world.database.query(
      'select bool_and(last_success_at is not null) and count(*) = $1 as copied from etl.feeds',
      [feeds],
    );
    return row?.copied === true;
  };
  const until = (poll: () => Promise<boolean>, boundMs = hangMs) =>
    eventually('it', poll, { boundMs, everyMs: pollMs }).catch(async (cause: unknown) => {
      const hanging = JSON.stringify(await runsUnderWay(pool));
      throw new Error(`at ${nowMs / 3_600_000} h a run hangs: ${hanging}`, { cause });
    });
  return {
    ...world,
    lanes: configuredLanes(settings.chains),
    crew,
    /** All workers that were started. */
    started,
    /** Simulated ms since the start. */
    get nowMs() {
      return nowMs;
    },
    /** Moves the clock; resolves when every worker goes by the new time. */
    async setTime(atMs: number) {
      nowMs = atMs;
      await Promise.all(crew.members.map((worker) => worker.setTime(instantMs())));
    },
    /** How far requests may move the clock from now on, in simulated ms. */
    allow: (ms: number) => void (allowedMs = ms),
    sendRuns,
    /** Whether every run that was sent has been taken up and closed. */
    isAtRest,
    /** Waits for a condition; throws with the runs under way when `boundMs` pass first. */
    until,
    /** Whether every feed has been copied once, which a start does without a run of the cron. */
    areCopied,
    untilCopied: () => until(async () => (await areCopied()) && (await isAtRest())),
    untilAtRest: () => until(isAtRest),
  };
}

/** Makes lanes due, as the passing of time does. */
export async function makeDue(pool: Pool, lanes: readonly Pick<ConfiguredLane, 'lane'>[]) {
  await pool.query(
    `update etl.lanes set next_due_at = clock_timestamp() where feed || '/' || lane = any($1)`,
    [lanes.map(({ lane }) => laneName(lane))],
  );
}

export type DrivenWorld = Awaited<ReturnType<typeof openDrivenWorld>>;

/** Runs that are open, and lanes that are due; empty when all is at rest. */
async function runsUnderWay(pool: Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(
    `select to_jsonb(runs) as row, (
       select jsonb_agg(walks) from etl.walks where run_id = runs.id and walks.state = 'running'
     ) as walks
     from etl.runs where state = 'open'
     union all
     select to_jsonb(lanes), null from etl.lanes where next_due_at <= clock_timestamp()`,
  );
  return rows;
}
