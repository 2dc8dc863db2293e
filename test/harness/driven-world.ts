import type { Pool } from 'pg';
import { onTestFailed, onTestFinished } from 'vitest';
import { startInstantMs } from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { DatabaseTimeouts } from '../../src/db/timeouts.ts';
import { createLog } from '../../src/log.ts';
import { installQueues, startBoss } from '../../src/sync/queue.ts';
import { type ConfiguredLane, configuredLanes } from '../../src/sync/targets.ts';
import { runQueue } from '../../src/sync/workers.ts';
import { testKey } from './explorer.ts';
import { Crew, eventually, Worker, hangMs } from './process.ts';
import { openWorld, type WorldOptions } from './world.ts';

/** How often a run is looked at, in ms: a small part of what one takes. */
const pollMs = 4;

export interface DrivenOptions extends WorldOptions {
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
  const { pool, url } = world.database;
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
  const sendRuns = await openCron(url);
  await crew.fill();
  const isAtRest = async () => (await runsUnderWay(pool)).length === 0;
  const until = (poll: () => Promise<boolean>, boundMs = hangMs) =>
    eventually('it', poll, { boundMs, everyMs: pollMs }).catch(async (cause: unknown) => {
      const hanging = JSON.stringify(await runsUnderWay(pool));
      throw new Error(`at ${nowMs / 3_600_000} h a run hangs: ${hanging}`, { cause });
    });
  const feeds = Object.keys(options.operations).length;
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
    /** Waits until every feed has been copied once. */
    untilCopied: () => until(async () => (await areCopied(pool, feeds)) && (await isAtRest())),
    untilAtRest: () => until(isAtRest),
  };
}

/** Opens a cron that sends what a schedule sends for lanes, when it is requested, until the running test ends. */
async function openCron(databaseUrl: string) {
  await installQueues(databaseUrl);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl, log, supervise: false });
  onTestFinished(() => boss.stop({ graceful: false }));
  return async (lanes: readonly ConfiguredLane[]) => {
    for (const { lane, scope } of lanes) {
      const singletonKey = `${lane.chain_id}.${lane.operation}.${lane.lane}`;
      await boss.send(runQueue, { lane, scope }, { singletonKey });
    }
  };
}

export type DrivenWorld = Awaited<ReturnType<typeof openDrivenWorld>>;

/** Runs that were sent, or are open, and the jobs that work on them; empty when all is at rest. */
async function runsUnderWay(pool: Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(
    `select chain_id || '/' || operation as feed, lane, failures_in_a_row, opened_at,
            (select json_agg(walks) from etl.walks
             where run_id = runs.id and walks.state = 'running') as walks,
            (select json_agg(job) from (
               select state, start_after, started_on from pgboss.job
               where name = 'slices' and data ->> 'operation' = runs.operation
                 and data ->> 'lane' = runs.lane and state in ('created', 'active', 'retry')
             ) as job) as jobs
     from etl.runs where state = 'open'
     union all
     select singleton_key, 'sent', 0, created_on, null, null from pgboss.job
     where name = $1 and state in ('created', 'active', 'retry')`,
    [runQueue],
  );
  return rows;
}

/** Whether so many feeds have been copied once, which a start does without a run of the cron. */
export async function areCopied(pool: Pool, feeds: number): Promise<boolean> {
  const { rows } = await pool.query<{ copied: boolean | null }>(
    'select bool_and(last_success_at is not null) and count(*) = $1 as copied from etl.feeds',
    [feeds],
  );
  return rows[0]?.copied ?? false;
}
