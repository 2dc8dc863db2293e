import { expect, test } from 'vitest';
import { type SimulatedChain, startInstantMs } from '../../../simulator/index.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { type PlanDocument, planFeeds, planOf } from '../../../src/status/plan.ts';
import { configFolder } from '../../harness/process.ts';
import { plainChain } from '../../harness/sync.ts';
import { openProgram } from './program.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The free plan's pace, and its day made small: 100 requests instead of 5,000. */
const requestMs = 200;
const dailyCredits = 2_000;
const creditsPerRequest = 20;

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 22_000,
  batches: { first: 1, count: 60, blocks: 220 },
  gapsPercent: 3,
  factories: 460,
  motion: { operationsPerMinute: 10 },
};
const operations = {
  'user-operations': { since: new Date(startInstantMs - 36 * hourMs).toISOString() },
  'optimism-batch-blocks': {},
  factories: {},
};

/** A free plan of the service with a clock of its own, and the program against it. */
async function scene(explorer: object = {}) {
  let nowMs = 0;
  let spent = 0;
  const program = await openProgram({
    operations,
    explorer,
    seed: 31,
    chains: [chain],
    clock: () => nowMs,
    onRequest: () => {
      nowMs += requestMs;
      spent += creditsPerRequest;
      if (spent < dailyCredits) return;
      nowMs = Math.ceil((nowMs + 1) / dayMs) * dayMs;
      spent = 0;
    },
  });
  const { run, interrupted, db, env } = program;
  const cwd = await configFolder({ chains: [{ id: chain.id, operations }] });
  const settings = loadSettings({ env, cwd });
  return {
    ...program,
    now: () => nowMs,
    /** What `plan` says at the service's own time, for the free plan's pace. */
    plan: async () => {
      const at = new Date(startInstantMs + nowMs);
      const feeds = await planFeeds(db, settings, {
        pageSize: settings.explorer.pageSize,
        at,
      });
      const configured = { requestsPerSecond: 1000 / requestMs, dailyCredits };
      return planOf(feeds, configured, { at, spentToday: spent / creditsPerRequest });
    },
    /** Reads some pages of each list. */
    readSome: async () => {
      expect((await run('sync', '--operation', 'factories')).code).toBe(0);
      for (const operation of ['user-operations', 'optimism-batch-blocks']) {
        expect((await interrupted(30, 'backfill', '--operation', operation)).code).toBe(130);
      }
    },
  };
}

const expectWithinTenPercent = (predicted: number | null, actual: number) => {
  expect(predicted).not.toBeNull();
  expect(Math.abs((predicted ?? 0) - actual) / actual).toBeLessThan(0.1);
};

test('plan estimates the days of a free plan within a tenth, after a few pages and during the run', async () => {
  const { interrupted, run, now, plan, readSome } = await scene();
  await readSome();
  const probedAt = now();
  const early = await plan();
  expect(early.history.unknown).toEqual([]);

  const first = await interrupted(200, 'backfill');
  expect(first.code).toBe(130);
  const underWayAt = now();
  const underWay = await plan();
  const rest = await run('backfill');
  expect(rest.code).toBe(0);

  const endedAt = now();
  expectWithinTenPercent(early.history.requests.likely, first.requests + rest.requests);
  expectWithinTenPercent(early.history.seconds.likely, (endedAt - probedAt) / 1000);
  expectWithinTenPercent(underWay.history.seconds.likely, (endedAt - underWayAt) / 1000);
  expect((await plan()).history.requests).toEqual({ least: 0, likely: 0, most: 0 });
});

test("plan says what is unknown without a request, then the total cost, and that a day's credits do not suffice", async () => {
  const { run, readSome } = await scene({ daily_credits: dailyCredits });

  const { stdout, requests } = await run('plan', '--json');

  expect(requests).toBe(0);
  expect((JSON.parse(stdout) as PlanDocument).history).toMatchObject({
    requests: { least: 0, likely: 0, most: 0 },
    unknown: ['10/user-operations', '10/optimism-batch-blocks', '10/factories'],
  });
  await readSome();
  const text = (await run('plan')).stdout;
  expect(text).toMatch(/^History: about [\d,]+ \(at most [\d,]+\) requests, about [\d,]+ /);
  expect(text).toMatch(/Warning: a day of polls \([\d,]+ credits\) does not fit/);
});
