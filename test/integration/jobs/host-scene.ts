import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished } from 'vitest';
import { startSimulator, statusFaults, type Fault } from '../../../simulator/index.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import { readStatus } from '../../../src/status/status.ts';
import { serveLanes } from '../../fault/serving.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';
import { yearly } from '../../harness/world.ts';

const pageSize = 10;
const chains = [10, 8453, 42220].map((id) => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  userOperations: 300,
  factories: 60,
}));
const operations = ['user-operations', 'factories'];
const feeds = chains.length * operations.length;

/** Two `start` at six lists of one explorer, which have stored their first pages. */
export async function openScene() {
  const database = await freshDatabase();
  const { query, pool } = database;
  let fault: ((feed: string) => Fault | null) | null = null;
  // The thirty pages of a list take longer than its first two, which commit within a second.
  let latencyMs = 100;
  let requests = 0;
  const options = {
    seed: 4,
    chains,
    get latencyMs() {
      return latencyMs;
    },
    faults: ({ chainId, operation }: { chainId: number; operation: string }) =>
      fault?.(`${chainId}/${operation}`) ?? null,
    onRequest: () => void (requests += 1),
  };
  let simulator = await startSimulator(options);
  onTestFinished(() => simulator.close());
  const port = Number(new URL(simulator.url).port);
  const settings = settingsFor({ url: simulator.url, chains, operations, pageSize });
  const lanes = configuredLanes(settings.chains).map((lane) => ({ ...lane, cron: yearly }));
  const starts = [];
  for (const _ of [1, 2]) starts.push(await serveLanes(database, { settings, lanes }));
  await query(`
    create table public.tests (wait interval);
    create function public.note_test() returns trigger language plpgsql as $$
    begin insert into public.tests values (new.next_try_at - clock_timestamp()); return null; end $$;
    create trigger note_test after update on etl.hosts for each row
    when (new.next_try_at <> old.next_try_at) execute function public.note_test()`);
  await eventually('pages of each feed', async () => {
    const rows = await query('select feed from etl.pages group by feed having count(*) > 1');
    return rows.length === feeds;
  });
  return {
    query,
    starts,
    status: () => readStatus(drizzle(pool), pageSize),
    requests: () => requests,
    tests: async () => {
      const rows = await query('select extract(epoch from wait)::float8 as s from public.tests');
      return rows.map(({ s }): number => s);
    },
    /** Lets every request fail, or those of some lists. */
    strike: (of: typeof fault) => void (fault = of),
    slowDown: () => void (latencyMs = 300),
    close: () => simulator.close(),
    reopen: async () => void (simulator = await startSimulator({ ...options, port })),
    async untilCopied() {
      fault = null;
      latencyMs = 0;
      await eventually('the end of every feed', async () => {
        const rows = await query(
          `select count(*)::int as n, bool_and(state = 'finished') as ended from etl.runs`,
        );
        return rows[0]?.ended;
      });
      const stored = await query('select count(*)::int as n from explorer.user_operations');
      expect(stored[0]?.n).toBe(chains.length * 300);
    },
  };
}

const reset: Fault = { wire: ({ response }) => void response.socket?.resetAndDestroy() };

export type Scene = Awaited<ReturnType<typeof openScene>>;

interface Outage {
  readonly begin: (scene: Scene) => unknown;
  readonly end?: (scene: Scene) => unknown;
  readonly reason: RegExp;
}

type Name =
  'refuses connections' | 'answers 503' | 'is hidden by a page in HTML' | 'cuts every connection';

const outages: Readonly<Record<Name, Outage>> = {
  'refuses connections': {
    begin: ({ close }) => close(),
    end: ({ reopen }) => reopen(),
    reason: /^connection (?:refused|reset|closed before the whole answer)$/u,
  },
  'answers 503': {
    begin: ({ strike }) => strike(() => statusFaults['503']),
    reason: /^HTTP 503, /u,
  },
  'is hidden by a page in HTML': {
    begin: ({ strike }) => strike(() => statusFaults['502-html']),
    reason: /^HTTP 502, /u,
  },
  'cuts every connection': {
    begin: ({ strike }) => strike(() => reset),
    reason: /^connection (?:reset|closed before the whole answer)$/u,
  },
};

/** The explorer fails for all: one request at a time tests it, one reason names it, and all lists end afterwards. */
export async function expectOutlasted(
  name: Name,
  during: (scene: Scene) => Promise<void> = async () => undefined,
): Promise<void> {
  const { begin, end = () => undefined, reason } = outages[name];
  const scene = await openScene();
  const { query } = scene;

  await begin(scene);
  const hosts = await eventually('the outage to be noted, and tests of it', async () => {
    const rows = await query('select reason from etl.hosts');
    return (await scene.tests()).length >= 3 && rows;
  });

  expect(hosts).toHaveLength(1);
  const status = await scene.status();
  expect(status.reasons.map(({ code }) => code)).toEqual(['explorer-unreachable']);
  expect(status.overall.sentence).toMatch(
    /^No answer from 127\.0\.0\.1:\d+ since .* UTC: .*; next try \d\d:\d\d:\d\d UTC\.$/u,
  );
  expect(JSON.stringify(status)).not.toMatch(/UND_ERR|ECONN/u);
  const [before, testsBefore] = [scene.requests(), (await scene.tests()).length];
  await eventually('two more tests', async () => (await scene.tests()).length >= testsBefore + 2);
  // One request each, and one that may have been under way.
  expect(scene.requests() - before).toBeLessThanOrEqual(
    (await scene.tests()).length - testsBefore + 1,
  );
  expect((await scene.tests()).at(-1)).toBeLessThan(2);
  await during(scene);
  scene.strike(null);
  await end(scene);
  await scene.untilCopied();

  expect(await query('select from etl.hosts')).toEqual([]);
  const runs = await query(
    'select failed_requests::int as failed, first_failure, waited_ms::int as waited from etl.runs where failed_requests > 0',
  );
  expect(runs.length).toBeGreaterThan(0);
  for (const run of runs) {
    expect(run.first_failure).toMatch(reason);
    expect(run.waited).toBeGreaterThan(0);
  }
  const lines = scene.starts.flatMap((start) => start.lines).join('');
  expect(lines).toContain('explorer.unreachable');
  expect(lines).toContain('explorer.back');
}
