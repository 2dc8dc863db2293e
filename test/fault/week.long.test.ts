import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { type SimulatedChain, startInstantMs } from '../../simulator/index.ts';
import { drawsOf } from '../../simulator/random.ts';
import { type RankingName, rankingNames, rankings } from '../../simulator/rankings.ts';
import { tableName } from '../../src/db/column-types.ts';
import { operations } from '../../src/lists/registry.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import type { ConfiguredLane } from '../../src/sync/feeds.ts';
import { drawWhen, playFaults } from '../harness/faults.ts';
import { ledgerFaults, sumFaults, sumUp } from '../harness/ledger.ts';
import { eventually, startProgram } from '../harness/process.ts';
import { runSync } from '../harness/sync.ts';
import { watchedDifferences } from '../harness/tables.ts';
import { chainOfSeed, type DrivenWorld, openDrivenWorld } from '../harness/world.ts';
import { truthAt } from '../truth/truth.ts';

const hourMs = 3_600_000;
/** Every how long a run of the lists that grow comes, and one of the rankings. */
const runMs = hourMs;
const rankingMs = 6 * hourMs;

const allLists = ['user-operations', 'bundles', 'optimism-batch-blocks', ...rankingNames] as const;
type ListName = (typeof allLists)[number];

/** A whole week takes a quarter of an hour; one day, or some of the lists, find a fault faster. */
const {
  WEEK_SEED: seedText = '1',
  WEEK_DAYS: daysText = '2',
  WEEK_LISTS: listsText = allLists.join(','),
} = process.env;
const seed = Number(seedText);
const days = Number(daysText);
const mostKills = 4 * days;
const lists = listsText.split(',') as ListName[];
const isRanked = (list: string): list is RankingName => rankingNames.some((name) => name === list);

/** A chain on which all moves that we claim to follow. The week does not end behind unused numbers. */
const chain: SimulatedChain = {
  ...chainOfSeed(seed),
  userOperations: 600,
  batches: { first: 1, count: 12, blocks: 150 },
  gapsPercent: 2,
  factories: 120,
  otherRankings: 70,
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

/** What is late by up to 20 h is caught by a poll of 24 h every 4. */
const deepPolls = {
  overlap: '10m',
  resweep: [
    { depth: '4h', every: '2h' },
    { depth: '1d', every: '4h' },
  ],
};
const settings: Readonly<Record<string, object>> = {
  'user-operations': deepPolls,
  bundles: deepPolls,
};

test('days of new, late, changed and removed items are mirrored exactly by workers that are killed', async () => {
  const endMs = days * 24 * hourMs;
  const world = await openDrivenWorld({
    seed,
    chain,
    operations: Object.fromEntries(lists.map((list) => [list, settings[list] ?? {}])),
    explorer: { page_size: 50 },
    workers: 2,
    repeat: `WEEK_SEED=${seed} WEEK_DAYS=${days} npm run test:long -- week`,
  });
  const models = lists.filter(isRanked).map((list) => new RankingModel(list));
  const killer = createKiller(world, mostKills, endMs);
  const runsMs = await liveWeek(world, models, killer, endMs);

  await reportWeek(world, runsMs, killer.kills);
  // A run that is done before its moment comes, as by a late killer, is not killed in.
  expect(killer.kills).toBeGreaterThanOrEqual(mostKills / 2);
  await expectTrue(world, models);
});

/**
 * All runs in their time, each at rest before the clock moves on. At its end a person asks for what
 * schedules look at in growing intervals.
 *
 * @returns how long each run took from sending to rest, real ms, ascending
 */
async function liveWeek(
  world: DrivenWorld,
  models: readonly RankingModel[],
  killer: Killer,
  endMs: number,
) {
  await world.untilCopied();
  for (const ranking of models) ranking.take(0);
  const runsMs: number[] = [];
  for (let atMs = runMs; atMs <= endMs; atMs += runMs) {
    await world.setTime(atMs);
    const begun = performance.now();
    for (const lanes of roundsOf(world, atMs === endMs)) {
      await world.sendRuns(lanes.filter((lane) => isDue(lane, atMs)));
      await killer.at(atMs);
      await world.untilAtRest();
    }
    if (atMs % rankingMs === 0) for (const ranking of models) ranking.take(atMs);
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
  !isRanked(lane.operation) || atMs % rankingMs === 0;

/** As many as a run with something new makes. */
const mostRequests = 8;

type Killer = ReturnType<typeof createKiller>;

/** Kills workers at moments of the week that follow from the seed. */
function createKiller(world: DrivenWorld, wanted: number, endMs: number) {
  const { crew, database, simulator } = world;
  const random = drawsOf(seed)('kills', 0);
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
      const victims = wanted - kills > 1 ? crew.drawSome(random) : [random.pick(crew.members)];
      const kill = { when: drawWhen(random, mostRequests), inject: () => crew.kill(victims) };
      const [isDone] = await playFaults([kill], scene);
      if (isDone === true) kills += victims.length;
    },
  };
}

/** Holds what the week left against the truth; each line says what is being compared. */
async function expectTrue(world: DrivenWorld, models: readonly RankingModel[]) {
  const { database, nowMs, place } = world;
  const { pool, db } = database;
  const found = await watchedDifferences(
    pool,
    { seed, chain, scope: { operations: lists } },
    nowMs,
    Object.fromEntries(models.map((ranking) => [ranking.list, ranking.rows(nowMs)])),
  );
  expect(found).toEqual({});
  for (const ranking of models) {
    expect(await storedHistory(pool, ranking), ranking.list).toEqual(ranking.history());
  }
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  // A worker that is at the sums has its turn first.
  await eventually('sums of the rows', async () => {
    await sumUp(db);
    return Object.keys(await sumFaults(pool)).length === 0;
  });
  const verified = await verifyFeeds(db);
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
  const rows = await database.query(`
    select (select count(*) from explorer.user_operations) as operations,
           (select count(*) from explorer.user_operations where removed_at is not null) as removed,
           (select count(*) from explorer.late_arrivals) as late,
           (select count(*) from explorer.read_batches) as batches,
           (select count(*) from explorer.read_batches where state = 'settled') as settled,
           (select count(*) from explorer.block_reorgs) as reorgs,
           (select count(*) from explorer.bundles) as bundles,
           (select count(*) from explorer.bundles where removed_at is not null) as removed_bundles,
           (select count(*) from explorer.factories where missing_since is not null) as missing,
           (select count(*) from explorer.factory_history) as counts`);
  const at = (part: number) => Math.round(runsMs[Math.floor((runsMs.length - 1) * part)] ?? 0);
  const facts = JSON.stringify({ requests: simulator.counts, ...rows[0] });
  process.stderr.write(
    `week of seed ${seed}: ${runsMs.length} runs of ${at(0.5)} ms (median), ${at(0.9)} (p90), ${at(1)} (max); ${kills} kills; ${facts}\n`,
  );
}

type Row = Record<string, unknown>;

/**
 * What an observer knows of a ranked list who reads it now and then, while it is still. Between two
 * readings a count moves, and an item may leave, unseen.
 */
class RankingModel {
  readonly list: RankingName;
  readonly total: string;
  /** Of each item, as rankings saw it, each time that its total had changed. */
  readonly #seen = new Map<string, Row[]>();

  constructor(list: RankingName) {
    this.list = list;
    this.total = rankings[list].total;
  }

  /** A ranking at a simulated time. */
  take(atMs: number): void {
    for (const row of this.#rows(atMs)) {
      if (row['rank'] === null) continue;
      const address = String(row['address_hash']);
      const seen = this.#seen.get(address) ?? [];
      if (seen.at(-1)?.[this.total] !== row[this.total]) seen.push(row);
      this.#seen.set(address, seen);
    }
  }

  /** The table, at the time of the last ranking: an absent one keeps the counts last seen. */
  rows(atMs: number): Row[] {
    return this.#rows(atMs).flatMap((row) => {
      const last = this.#seen.get(String(row['address_hash']))?.at(-1);
      const { rank, missing_since } = row;
      return last === undefined ? [] : [{ ...last, rank, missing_since }];
    });
  }

  /** The totals of each item in the order in which they were seen. */
  history(): Record<string, number[]> {
    const sorted = [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([address, seen]) => [address, seen.map((row) => Number(row[this.total]))]),
    );
  }

  #rows(atMs: number): Row[] {
    return truthAt(seed, chain, { operations: [this.list] }, atMs)[this.list];
  }
}

/** The history as a database has it. */
async function storedHistory(pool: Pool, { list, total }: RankingModel) {
  const declared = operations[list];
  if (!('ranking' in declared)) throw new Error(`${list} is not ranked`);
  const { history } = declared.ranking;
  const { rows } = await pool.query<{ address_hash: string; counts: number[] }>(
    `select address_hash, json_agg(${total} order by observed_at) as counts
     from ${tableName(history)} where chain_id = $1 group by 1 order by 1`,
    [chain.id],
  );
  return Object.fromEntries(rows.map(({ address_hash, counts }) => [address_hash, counts]));
}
