import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { type SimulatedChain, startInstantMs, startSimulator } from '../../../simulator/index.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { type PlanDocument, planFeeds, planOf } from '../../../src/status/plan.ts';
import { freshDatabase } from '../../harness/database.ts';
import { plainOutput } from '../../harness/plain-output.ts';
import { configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/sync.ts';

const seed = 31;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The free plan's pace, and its day made small: 100 requests instead of 5,000. */
const requestMs = 200;
const dailyCredits = 2_000;
const creditsPerRequest = 20;

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 22_000,
  batches: { first: 1, count: 60, blocks: 220 },
  gapsPercent: 3,
  factories: 460,
  motion: { operationsPerMinute: 10 },
};

const since = new Date(startInstantMs - 36 * hourMs).toISOString();

const everything = {
  'user-operations': { since },
  'optimism-batch-blocks': {},
  factories: {},
};

/** A free plan of the service with a clock of its own, and the program against it. */
async function scene(operations: object = everything, explorer: object = {}) {
  let nowMs = 0;
  let spent = 0;
  let requests = 0;
  const stop = { after: Infinity, signal: new AbortController() };
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    clock: () => nowMs,
    onRequest: () => {
      requests += 1;
      nowMs += requestMs;
      spent += creditsPerRequest;
      if (requests === stop.after) stop.signal.abort();
      if (spent < dailyCredits) return;
      nowMs = Math.ceil((nowMs + 1) / dayMs) * dayMs;
      spent = 0;
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000, ...explorer },
    chains: [{ id: chain.id, operations }],
  });
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const call = async (args: readonly string[], signal = new AbortController().signal) => {
    let stdout = '';
    const before = requests;
    const code = await runProgram([...args, '--quiet', '--log-level', 'silent'], {
      env,
      cwd,
      signal,
      stdout: (text) => void (stdout += text),
      stderr: () => undefined,
      ...plainOutput,
    });
    return { code, stdout, requests: requests - before };
  };
  const settings = loadSettings({ env, cwd });
  /** A backfill that is interrupted after so many requests. */
  const backfillFor = (more: number, ...flags: readonly string[]) => {
    stop.after = requests + more;
    stop.signal = new AbortController();
    return call(['backfill', ...flags], stop.signal.signal);
  };
  return {
    call,
    pool: database.pool,
    now: () => nowMs,
    /** What `plan` says at the service's own time, for the free plan's pace. */
    plan: async () => {
      const at = new Date(startInstantMs + nowMs);
      const options = { pageSize: settings.explorer.pageSize, at };
      const feeds = await planFeeds(drizzle(database.pool), settings.chains, options);
      const configured = { requestsPerSecond: 1000 / requestMs, dailyCredits };
      return planOf(feeds, configured, { at, spentToday: spent / creditsPerRequest });
    },
    backfillFor,
    /** Reads some pages of each list. */
    readSome: async () => {
      expect((await call(['sync', '--operation', 'factories'])).code).toBe(0);
      for (const operation of ['user-operations', 'optimism-batch-blocks']) {
        expect((await backfillFor(30, '--operation', operation)).code).toBe(130);
      }
    },
  };
}

const expectWithinTenPercent = (predicted: number | null, actual: number) => {
  expect(predicted).not.toBeNull();
  expect(Math.abs((predicted ?? 0) - actual) / actual).toBeLessThan(0.1);
};

test('the days of a free plan are estimated within a tenth, after a few pages and during the run', async () => {
  const { backfillFor, call, now, plan, readSome } = await scene();
  await readSome();
  const probedAt = now();
  const early = await plan();
  expect(early.history.unknown).toEqual([]);

  const first = await backfillFor(200);
  expect(first.code).toBe(130);
  const underWayAt = now();
  const underWay = await plan();
  const rest = await call(['backfill']);
  expect(rest.code).toBe(0);

  const endedAt = now();
  expectWithinTenPercent(early.history.requests.likely, first.requests + rest.requests);
  expectWithinTenPercent(early.history.seconds.likely, (endedAt - probedAt) / 1000);
  expectWithinTenPercent(underWay.history.seconds.likely, (endedAt - underWayAt) / 1000);
  expect((await plan()).history.requests).toEqual({ least: 0, likely: 0, most: 0 });
});

test('what nothing was read of is unknown, and to say so costs nothing', async () => {
  const { call } = await scene();

  const { code, stdout, requests } = await call(['plan', '--json']);

  expect({ code, requests }).toEqual({ code: 0, requests: 0 });
  const document = JSON.parse(stdout) as PlanDocument;
  expect(document.history).toMatchObject({
    requests: { least: 0, likely: 0, most: 0 },
    unknown: ['10/user-operations', '10/optimism-batch-blocks', '10/factories'],
  });
});

test('the plan says first what all costs, and that a day does not fit', async () => {
  const { call, readSome } = await scene(everything, { daily_credits: dailyCredits });
  await readSome();

  const { stdout } = await call(['plan']);

  expect(stdout).toMatch(/^History: about [\d,]+ \(at most [\d,]+\) requests, about [\d,]+ /);
  expect(stdout).toMatch(/Warning: a day of polls \([\d,]+ credits\) does not fit/);
});
