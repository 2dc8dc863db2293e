import { expect, test } from 'vitest';
import { startInstantMs, type SimulatedChain } from '../../simulator/index.ts';
import { eventually, hangMs } from '../harness/process.ts';
import { openDrivenWorld, type DrivenWorld } from '../harness/world.ts';
import { plainChain } from '../harness/sync.ts';

const seed = 7;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const runMs = 5 * minuteMs;

/**
 * A key that may ask every third second, in simulated time; in real time so seldom that the budget,
 * not this machine, decides who asks next.
 */
const requestMs = 3000;
const requestsPerSecond = 40;
/** How far time goes on without a poll of the test, in ms: many times what a poll takes. */
const leashMs = 20 * requestMs;

/** Two minutes of requests; a machine that is slower by far meets it no more than one that hangs. */
const endBoundMs = 10 * hangMs;

/** Thousands of pages of ten in each list: hours of such a service. */
const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 18_000,
  batches: { first: 1, count: 66, blocks: 150 },
  motion: { operationsPerMinute: 4, blockSeconds: 12 },
};

test('live lanes stay current during a backfill of hours', async () => {
  const world = await openDrivenWorld({
    seed,
    chain,
    operations: { 'user-operations': {}, 'optimism-batch-blocks': {} },
    explorer: { requests_per_second: requestsPerSecond, page_size: 10 },
    workers: 1,
    requestMs,
    repeat: 'npm run test:long -- lag',
  });
  const lag = createLag(world);
  let nextRunMs = runMs;

  await eventually(
    'the end of the backfill',
    async () => {
      if (world.nowMs >= nextRunMs) {
        nextRunMs += runMs;
        await world.setTime(world.nowMs);
        await world.sendRuns(world.lanes);
      }
      await lag.poll();
      // How soon a busy machine gets round to a job, or to this test, is not the lag.
      world.allow((await isTakenUp(world)) ? leashMs : 0);
      return isBackfilled(world);
    },
    { boundMs: endBoundMs },
  );

  process.stderr.write(
    `lag: backfill of ${(world.nowMs / hourMs).toFixed(1)} h, ${lag.polls} polls, worst of operations ${lag.worstMs.operations / 1000} s, of blocks ${lag.worstMs.blocks / 1000} s\n`,
  );
  expect(world.nowMs).toBeGreaterThan(2 * hourMs);
  expect(lag.worstMs.operations).toBeLessThan(2 * runMs);
  // A poll requests one number: the next batch is met by the second poll at the latest, and a poll that is
  // still under way when the next one is due takes its place.
  expect(lag.worstMs.blocks).toBeLessThan(4 * runMs);
});

/** Whether no lane that is due waits for its run, nor a run for a worker. */
async function isTakenUp({ database }: DrivenWorld): Promise<boolean> {
  const rows = await database.query(
    `select from pgboss.job where state in ('created', 'retry') and start_after <= now()
     union all select from etl.lanes where next_due_at <= now()
     limit 1`,
  );
  return rows.length === 0;
}

/** How old the newest row of each list was at worst, after the first hour. */
function createLag(world: DrivenWorld) {
  const worstMs = { operations: 0, blocks: 0 };
  let polls = 0;
  return {
    worstMs,
    get polls() {
      return polls;
    },
    async poll() {
      const rows = await world.database.query(
        `select (
           select timestamp from explorer.user_operations
           where chain_id = $1 and timestamp is not null
           order by block_number desc limit 1
         ) as operations, (
           select timestamp from explorer.blocks where chain_id = $1 order by height desc limit 1
         ) as blocks`,
        [chain.id],
      );
      const [newest] = rows;
      if (newest === undefined || world.nowMs < hourMs) return;
      polls += 1;
      for (const list of ['operations', 'blocks'] as const) {
        const ageMs = startInstantMs + world.nowMs - newest[list].getTime();
        worstMs[list] = Math.max(worstMs[list], ageMs);
      }
    },
  };
}

async function isBackfilled({ database }: DrivenWorld): Promise<boolean> {
  const rows = await database.query(
    "select distinct operation from etl.runs where lane = 'backfill' and state = 'finished'",
  );
  return rows.length === 2;
}
