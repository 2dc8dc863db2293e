import { drizzle } from 'drizzle-orm/node-postgres';
import { expect } from 'vitest';
import {
  type Family,
  type Generation,
  type SimulatedChain,
  startInstantMs,
} from '../../simulator/index.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import type { ConfiguredLane } from '../../src/sync/targets.ts';
import { drawWhen, injectFault, killOf } from '../harness/faults.ts';
import { hangMs } from '../harness/hang.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { startProgram } from '../harness/process.ts';
import { seededRandom } from '../harness/random.ts';
import { sumFaults, sumUp } from '../harness/sums.ts';
import { runSync } from '../harness/sync.ts';
import { watchedDifferences } from '../harness/tables.ts';
import { type DrivenWorld, openDrivenWorld, yearly } from './drive.ts';
import { RankingModel } from './ranking-model.ts';

const hourMs = 3_600_000;

/** Every how long a run of the two lists that grow comes, and one of the ranking. */
const runMs = hourMs;
const rankingMs = 6 * hourMs;

export type ListName = 'user-operations' | 'optimism-batch-blocks' | 'factories';
const allLists: readonly ListName[] = ['user-operations', 'optimism-batch-blocks', 'factories'];

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v12', 'v11', 'v10'];

/** A chain on which all moves that the product claims to follow; what it is follows from the seed. */
const chainOf = (seed: number): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: families[(seed - 1) % families.length] ?? 'optimism',
  generation: generations[(seed - 1) % generations.length] ?? 'v12',
  userOperations: 600,
  batches: { first: 1, count: 12, blocks: 150 },
  gapsPercent: 3,
  factories: 120,
  motion: {
    operationsPerMinute: 3,
    blockSeconds: 24,
    latePercent: 2,
    latestLateMs: 20 * hourMs,
    orphanedPercent: 0.5,
    // An operation that comes and goes between two runs is seen by nobody.
    orphanedAfterMs: [2.2 * runMs, 6 * runMs],
    reincludedPercent: 50,
    reorgsPerDay: 96,
    // A batch is an hour: more than three that wait above the highest settled one are no head, but open.
    pendingMs: 1.5 * runMs,
    oddBatchesPercent: 10,
    factoryChangeMs: 3 * hourMs,
    absentFactoriesPercent: 10,
    newFactoriesPercent: 10,
  },
});

const settings: Readonly<Record<ListName, object>> = {
  // What is late by up to 20 h is caught by a poll of 24 h every 4.
  'user-operations': {
    schedule: yearly,
    overlap: '10m',
    resweep: [
      { depth: '4h', every: '2h' },
      { depth: '1d', every: '4h' },
    ],
  },
  'optimism-batch-blocks': { schedule: yearly },
  factories: { schedule: yearly },
};

export interface WeekOptions {
  readonly seed: number;
  readonly lists: readonly ListName[];
  /** How long the week is: whole days, so that every rule has its last run at the end. */
  readonly hours: number;
  readonly workers: number;
  /** SIGKILLs, spread over the week. */
  readonly kills: number;
  readonly repeat: string;
}

/** What the environment asks of a week; fewer hours, or some of the lists, find a fault faster. */
export function requestedOf(test: string): Omit<WeekOptions, 'workers' | 'kills'> {
  const {
    WEEK_SEED: seed = '1',
    WEEK_HOURS: hours = String(7 * 24),
    WEEK_LISTS: lists,
  } = process.env;
  return {
    seed: Number(seed),
    hours: Number(hours),
    lists: (lists?.split(',') ?? allLists) as ListName[],
    repeat: `WEEK_SEED=${seed} npm run test:long -- week -t "${test}"`,
  };
}

/** What a week left behind, and what it took. */
export interface Week {
  readonly world: DrivenWorld;
  readonly rankings: RankingModel;
  readonly kills: number;
  /** Of each run from sending to rest, real ms, ascending. */
  readonly runsMs: readonly number[];
}

/**
 * Lives through a week: all runs in their time, each at rest before the clock moves on. At its end
 * a person asks for what schedules look at in growing intervals.
 */
export async function liveWeek(options: WeekOptions): Promise<Week> {
  const { seed, lists, hours, repeat } = options;
  const chain = chainOf(seed);
  const world = await openDrivenWorld({
    seed,
    chain,
    operations: Object.fromEntries(lists.map((list) => [list, settings[list]])),
    workers: options.workers,
    repeat,
  });
  const rankings = new RankingModel(seed, chain);
  await world.untilCopied();
  if (lists.includes('factories')) rankings.take(0);
  const killer = createKiller(world, options);
  const runsMs: number[] = [];
  for (let atMs = runMs; atMs <= hours * hourMs; atMs += runMs) {
    await world.setTime(atMs);
    const begun = performance.now();
    for (const lanes of roundsOf(world, atMs === hours * hourMs)) {
      await world.sendRuns(lanes.filter((lane) => isDue(lane, atMs)));
      await killer.at(atMs);
      await world.untilAtRest();
    }
    if (lists.includes('factories') && atMs % rankingMs === 0) rankings.take(atMs);
    runsMs.push(performance.now() - begun);
  }
  if (lists.includes('optimism-batch-blocks')) await readUnverified(world, chain);
  return { world, rankings, kills: killer.kills, runsMs: runsMs.sort((a, b) => a - b) };
}

async function readUnverified(
  { database, simulator, nowMs }: DrivenWorld,
  chain: SimulatedChain,
): Promise<void> {
  await runSync(database, {
    url: simulator.url,
    chains: [chain],
    operations: ['optimism-batch-blocks'],
    isRangeGiven: false,
    at: new Date(startInstantMs + nowMs),
  });
}

/**
 * A deep poll goes on from where the last live one ended, and beside a live one that is where the one
 * before it did: what came since between the two is left to the next rule. The last has none.
 */
function roundsOf({ lanes }: DrivenWorld, isLast: boolean) {
  if (!isLast) return [lanes];
  const [live, backfill] = [
    lanes.filter(({ lane }) => lane.lane === 'live'),
    lanes.filter(({ lane }) => lane.lane === 'backfill'),
  ];
  return [live, backfill];
}

const isDue = ({ lane }: ConfiguredLane, atMs: number) =>
  lane.operation !== 'factories' || atMs % rankingMs === 0;

/** Kills workers at moments of the week that follow from the seed. */
function createKiller(world: DrivenWorld, { seed, kills: wanted, hours }: WeekOptions) {
  const random = seededRandom(seed);
  const everyMs = (hours * hourMs) / (wanted + 1);
  let kills = 0;
  return {
    get kills() {
      return kills;
    },
    /** Kills, if it is time to and the moment comes before the runs of now are done. */
    async at(atMs: number): Promise<void> {
      if (kills >= Math.min(wanted, Math.floor(atMs / everyMs))) return;
      const both = wanted - kills > 1 && random() < 0.25;
      const first = random() < 0.5 ? 0 : 1;
      const victims = world.workers.filter((_, place) => both || place % 2 === first);
      const scene = {
        pool: world.database.pool,
        requests: () => world.simulator.requests,
        isOver: () => world.isAtRest(),
      };
      const kill = { when: drawWhen(random, mostRequests), inject: killOf(victims) };
      if ((await injectFault(kill, scene)) !== true) return;
      await Promise.all(victims.map(({ exit }) => exit));
      kills += victims.length;
      world.replaceEnded();
    },
  };
}

/** As many as a run with something new makes. */
const mostRequests = 5;

/** Holds what the week left against the truth; each line says what is being compared. */
export async function expectTrueWeek({ world, rankings }: Week, { seed, lists }: WeekOptions) {
  const { database, nowMs } = world;
  const chain = chainOf(seed);
  const found = await watchedDifferences(
    database.pool,
    { seed, chain, scope: { operations: lists } },
    nowMs,
    lists.includes('factories') ? { factories: rankings.factories(nowMs) } : {},
  );
  expect(found).toEqual({});
  expect(await rankings.storedHistory(database.pool)).toEqual(rankings.history());
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
  await sumUp(database.pool);
  expect(await sumFaults(database.pool)).toEqual({});
  const verified = await verifyFeeds(drizzle(database.pool));
  expect(Object.fromEntries(verified.map(({ feed, open }) => [feed, open]))).toEqual(
    Object.fromEntries(lists.map((list) => [`${chain.id}/${list}`, []])),
  );
  const verify = startProgram(['verify'], world.environment);
  expect((await verify.ended(hangMs)).code, verify.stdout + verify.stderr).toBe(0);
}

/** What the week was full of, as the database has it: a week in which nothing moved shows nothing. */
async function eventsOf({ world }: Week): Promise<Record<string, number>> {
  const { rows } = await world.database.pool.query<{ events: Record<string, number> }>(
    `select json_build_object(
       'operations', (select count(*) from explorer.user_operations),
       'removed', (select count(*) from explorer.user_operations where removed_at is not null),
       'late', (select count(*) from explorer.late_arrivals),
       'batches', (select count(*) from explorer.read_batches),
       'settled', (select count(*) from explorer.read_batches where state = 'settled'),
       'reorgs', (select count(*) from explorer.block_reorgs),
       'missing factories', (select count(*) from explorer.factories where missing_since is not null),
       'changed counts', (select count(*) from explorer.factory_history)
     ) as events`,
  );
  return rows[0]?.events ?? {};
}

/** Writes what a week took and was full of. */
export async function reportWeek(week: Week, { seed }: WeekOptions): Promise<void> {
  const { runsMs, world } = week;
  const at = (part: number) => Math.round(runsMs[Math.floor((runsMs.length - 1) * part)] ?? 0);
  const facts = { requests: world.simulator.counts, ...(await eventsOf(week)) };
  process.stderr.write(
    `week of seed ${seed}: ${runsMs.length} runs of ${at(0.5)} ms (median), ${at(0.9)} (p90), ${at(1)} (max); ${week.kills} kills; ${JSON.stringify(facts)}\n`,
  );
}
