import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { type SimulatedChain, startInstantMs } from '../../simulator/index.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import type { ConfiguredLane } from '../../src/sync/targets.ts';
import { type DrivenWorld, openDrivenWorld } from '../harness/driven-world.ts';
import { drawWhen, injectFault } from '../harness/faults.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { startProgram } from '../harness/process.ts';
import { seededRandom } from '../harness/random.ts';
import { sumFaults, sumUp } from '../harness/sums.ts';
import { runSync } from '../harness/sync.ts';
import { watchedDifferences } from '../harness/tables.ts';
import { chainOfSeed } from '../harness/world.ts';
import { truthAt } from '../harness/truth/truth.ts';

const hourMs = 3_600_000;
/** Every how long a run of the two lists that grow comes, and one of the ranking. */
const runMs = hourMs;
const rankingMs = 6 * hourMs;

const allLists = ['user-operations', 'optimism-batch-blocks', 'factories'] as const;
type ListName = (typeof allLists)[number];

/** Fewer hours, which have to be whole days, or some of the lists, find a fault faster. */
const {
  WEEK_SEED: seedText = '1',
  WEEK_HOURS: hoursText = String(7 * 24),
  WEEK_LISTS: listsText = allLists.join(','),
} = process.env;
const seed = Number(seedText);
const endMs = Number(hoursText) * hourMs;
const lists = listsText.split(',') as ListName[];

/** A chain on which all moves that the product claims to follow. */
const chain: SimulatedChain = {
  ...chainOfSeed(seed),
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
    // An operation that comes and goes between two runs is not seen.
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
};

const settings: Readonly<Record<ListName, object>> = {
  // What is late by up to 20 h is caught by a poll of 24 h every 4.
  'user-operations': {
    overlap: '10m',
    resweep: [
      { depth: '4h', every: '2h' },
      { depth: '1d', every: '4h' },
    ],
  },
  'optimism-batch-blocks': {},
  factories: {},
};

test.each([
  { workers: 1, kills: 0 },
  { workers: 2, kills: 30 },
])('a week of all that moves is followed exactly: %o', async ({ workers, kills }) => {
  const world = await openDrivenWorld({
    seed,
    chain,
    operations: Object.fromEntries(lists.map((list) => [list, settings[list]])),
    explorer: { page_size: 50 },
    workers,
    repeat: `WEEK_SEED=${seed} npm run test:long -- week -t "workers: ${workers}"`,
  });
  const rankings = new RankingModel();
  const killer = createKiller(world, kills);
  const runsMs = await liveWeek(world, rankings, killer);

  await reportWeek(world, runsMs, killer.kills);
  // A run that is done before its moment comes, as by a late killer, is not killed in.
  expect(killer.kills).toBeGreaterThanOrEqual(kills / 2);
  await expectTrue(world, rankings);
});

/**
 * All runs in their time, each at rest before the clock moves on. At its end a person asks for what
 * schedules look at in growing intervals.
 *
 * @returns how long each run took from sending to rest, real ms, ascending
 */
async function liveWeek(world: DrivenWorld, rankings: RankingModel, killer: Killer) {
  await world.untilCopied();
  if (lists.includes('factories')) rankings.take(0);
  const runsMs: number[] = [];
  for (let atMs = runMs; atMs <= endMs; atMs += runMs) {
    await world.setTime(atMs);
    const begun = performance.now();
    for (const lanes of roundsOf(world, atMs === endMs)) {
      await world.sendRuns(lanes.filter((lane) => isDue(lane, atMs)));
      await killer.at(atMs);
      await world.untilAtRest();
    }
    if (lists.includes('factories') && atMs % rankingMs === 0) rankings.take(atMs);
    runsMs.push(performance.now() - begun);
  }
  if (lists.includes('optimism-batch-blocks')) await readUnverified(world);
  return runsMs.sort((a, b) => a - b);
}

async function readUnverified({ database, simulator, nowMs }: DrivenWorld): Promise<void> {
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
  return ['live', 'backfill'].map((name) => lanes.filter(({ lane }) => lane.lane === name));
}

const isDue = ({ lane }: ConfiguredLane, atMs: number) =>
  lane.operation !== 'factories' || atMs % rankingMs === 0;

/** As many as a run with something new makes. */
const mostRequests = 5;

type Killer = ReturnType<typeof createKiller>;

/** Kills workers at moments of the week that follow from the seed. */
function createKiller(world: DrivenWorld, wanted: number) {
  const { crew, database, simulator } = world;
  const random = seededRandom(seed);
  const everyMs = endMs / (wanted + 1);
  const scene = {
    pool: database.pool,
    requests: () => simulator.requests,
    isOver: () => world.isAtRest(),
  };
  let kills = 0;
  return {
    get kills() {
      return kills;
    },
    /** Kills, if it is time to and the moment comes before the runs of now are done. */
    async at(atMs: number): Promise<void> {
      if (kills >= Math.min(wanted, Math.floor(atMs / everyMs))) return;
      const victims = wanted - kills > 1 ? crew.drawSome(random) : crew.draw(random);
      const kill = { when: drawWhen(random, mostRequests), inject: () => crew.kill(victims) };
      if ((await injectFault(kill, scene)) === true) kills += victims.length;
    },
  };
}

/** Holds what the week left against the truth; each line says what is being compared. */
async function expectTrue({ database, nowMs, place }: DrivenWorld, rankings: RankingModel) {
  const { pool } = database;
  const found = await watchedDifferences(
    pool,
    { seed, chain, scope: { operations: lists } },
    nowMs,
    lists.includes('factories') ? { factories: rankings.factories(nowMs) } : {},
  );
  expect(found).toEqual({});
  expect(await storedHistory(pool)).toEqual(rankings.history());
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  await sumUp(pool);
  expect(await sumFaults(pool)).toEqual({});
  const verified = await verifyFeeds(drizzle(pool));
  expect(Object.fromEntries(verified.map(({ feed, open }) => [feed, open]))).toEqual(
    Object.fromEntries(lists.map((list) => [`${chain.id}/${list}`, []])),
  );
  const verify = startProgram(['verify'], place);
  expect((await verify.ended()).code, verify.output).toBe(0);
}

/** Writes what a week took and was full of: a week in which nothing moved shows nothing. */
async function reportWeek(
  { database, simulator }: DrivenWorld,
  runsMs: readonly number[],
  kills: number,
): Promise<void> {
  const { rows } = await database.pool.query<Record<string, string>>(
    `select (select count(*) from explorer.user_operations) as operations,
            (select count(*) from explorer.user_operations where removed_at is not null) as removed,
            (select count(*) from explorer.late_arrivals) as late,
            (select count(*) from explorer.read_batches) as batches,
            (select count(*) from explorer.read_batches where state = 'settled') as settled,
            (select count(*) from explorer.block_reorgs) as reorgs,
            (select count(*) from explorer.factories where missing_since is not null) as missing,
            (select count(*) from explorer.factory_history) as counts`,
  );
  const at = (part: number) => Math.round(runsMs[Math.floor((runsMs.length - 1) * part)] ?? 0);
  const facts = JSON.stringify({ requests: simulator.counts, ...rows[0] });
  process.stderr.write(
    `week of seed ${seed}: ${runsMs.length} runs of ${at(0.5)} ms (median), ${at(0.9)} (p90), ${at(1)} (max); ${kills} kills; ${facts}\n`,
  );
}

/**
 * What an observer knows of the factories who reads the ranking now and then, of a list that is still
 * still meanwhile. Between two readings a count moves, and a factory may leave, unseen.
 */
class RankingModel {
  /** Of each factory, the counts that rankings saw, each once until it changed. */
  readonly #counts = new Map<string, number[]>();

  /** A ranking at a simulated time. */
  take(atMs: number): void {
    for (const row of this.#rows(atMs)) {
      if (row['rank'] === null) continue;
      const address = String(row['address_hash']);
      const counts = this.#counts.get(address) ?? [];
      if (counts.at(-1) !== row['total_accounts']) counts.push(Number(row['total_accounts']));
      this.#counts.set(address, counts);
    }
  }

  /** The table, at the time of the last ranking: an absent one keeps the count last seen. */
  factories(atMs: number): Record<string, unknown>[] {
    return this.#rows(atMs)
      .filter((row) => this.#counts.has(String(row['address_hash'])))
      .map((row) => ({
        ...row,
        total_accounts: this.#counts.get(String(row['address_hash']))?.at(-1),
      }));
  }

  /** The counts of each factory in the order in which they were seen. */
  history(): Record<string, number[]> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #rows(atMs: number): Record<string, unknown>[] {
    return truthAt(seed, chain, { operations: ['factories'] }, atMs).factories;
  }
}

/** The history as a database has it. */
async function storedHistory(pool: Pool): Promise<Record<string, number[]>> {
  const { rows } = await pool.query<{ address_hash: string; counts: number[] }>(
    `select address_hash, json_agg(total_accounts order by observed_at) as counts
     from explorer.factory_history where chain_id = $1 group by 1 order by 1`,
    [chain.id],
  );
  return Object.fromEntries(rows.map(({ address_hash, counts }) => [address_hash, counts]));
}
