import { setTimeout as delay } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import { onTestFailed, onTestFinished } from 'vitest';
import {
  type SimulatedChain,
  type Simulator,
  startInstantMs,
  startSimulator,
} from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createLog } from '../../src/log.ts';
import { installQueues, startBoss } from '../../src/sync/queue.ts';
import { runQueue } from '../../src/sync/workers.ts';
import { type ConfiguredLane, configuredLanes } from '../../src/sync/targets.ts';
import { freshDatabase, type TestDatabase } from '../harness/database.ts';
import { hangMs } from '../harness/hang.ts';
import {
  configFolder,
  type ProgramEnvironment,
  startWorker,
  type Worker,
} from '../harness/process.ts';
import { testKey } from '../harness/sync.ts';

/** Never within a test: the test plays the part of the cron. */
export const yearly = '0 0 1 1 *';

/** How often a run is looked at, in ms: a small part of what one takes. */
const pollMs = 4;

export interface DrivenOptions {
  readonly seed: number;
  readonly chain: SimulatedChain;
  /** Keys below `operations` of the chain; each needs `schedule: yearly`. */
  readonly operations: Readonly<Record<string, object>>;
  readonly workers: number;
  /** Simulated ms that pass with a request, whoever makes it; none if absent. */
  readonly passMs?: () => number;
  /** Of the key's budget, in real time; more than are ever made if absent. */
  readonly requestsPerSecond?: number;
  readonly pageSize?: number;
  /** The command that runs the test again with its seed. */
  readonly repeat: string;
}

/** A chain that moves, and `start` processes that watch it, by one clock that the test drives. */
export interface DrivenWorld {
  readonly simulator: Simulator;
  readonly database: TestDatabase;
  readonly environment: ProgramEnvironment;
  readonly lanes: readonly ConfiguredLane[];
  readonly workers: readonly Worker[];
  /** Simulated ms since the start. */
  readonly nowMs: number;
  /** Moves the clock; resolves when every worker goes by the new time. */
  setTime(atMs: number): Promise<void>;
  /** Sends what the cron sends for these lanes. */
  sendRuns(lanes: readonly ConfiguredLane[]): Promise<void>;
  /** Whether every run that was sent has been taken up and closed. */
  isAtRest(): Promise<boolean>;
  /** Waits until every feed has been copied once, which a start does without a run of the cron. */
  untilCopied(): Promise<void>;
  /** Waits until it is. */
  untilAtRest(): Promise<void>;
  /** Starts a worker in the place of each that has ended. */
  replaceEnded(): void;
}

export async function openDrivenWorld(options: DrivenOptions): Promise<DrivenWorld> {
  const { seed, chain, repeat } = options;
  onTestFailed(() => void process.stderr.write(`seed ${seed}; repeat with: ${repeat}\n`));
  let nowMs = 0;
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    clock: () => nowMs,
    onRequest: () => {
      nowMs += options.passMs?.() ?? 0;
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: {
      requests_per_second: options.requestsPerSecond ?? 1000,
      page_size: options.pageSize ?? 50,
    },
    chains: [{ id: chain.id, name: chain.name, operations: options.operations }],
  });
  const environment = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  const settings = loadSettings({ env: { EXPLORER_API_KEY: testKey }, cwd });
  const cron = await openCron(database.url);
  const instant = () => startInstantMs + nowMs;
  const workers = Array.from({ length: options.workers }, () =>
    startWorker(environment, instant()),
  );
  onTestFailed(() => {
    for (const worker of workers) process.stderr.write(`${worker.stderr.slice(-3000)}\n---\n`);
  });
  const isAtRest = () => noRunIsOpen(database);
  const until = async (poll: () => Promise<boolean>) => {
    const boundMs = performance.now() + hangMs;
    while (!(await poll())) {
      if (performance.now() > boundMs) throw new Error(await hanging(database, nowMs));
      await delay(pollMs);
    }
  };
  return {
    simulator,
    database,
    environment,
    lanes: configuredLanes(settings.chains),
    workers,
    get nowMs() {
      return nowMs;
    },
    async setTime(atMs) {
      nowMs = atMs;
      await Promise.all(workers.map((worker) => worker.setTime(instant())));
    },
    sendRuns: (lanes) => sendRuns(cron, lanes),
    isAtRest,
    untilCopied: () => until(async () => (await isCopied(database)) && (await isAtRest())),
    untilAtRest: () => until(isAtRest),
    replaceEnded() {
      for (const [place, worker] of workers.entries()) {
        if (!worker.isRunning) workers[place] = startWorker(environment, instant());
      }
    },
  };
}

async function openCron(databaseUrl: string): Promise<PgBoss> {
  await installQueues(databaseUrl);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({
    databaseUrl,
    log,
    supervise: false,
  });
  onTestFinished(() => boss.stop({ graceful: false }));
  return boss;
}

/** The same job that a schedule sends (jobs/schedule.ts). */
async function sendRuns(boss: PgBoss, lanes: readonly ConfiguredLane[]): Promise<void> {
  for (const { lane, scope } of lanes) {
    const singletonKey = `${lane.chain_id}.${lane.operation}.${lane.lane}`;
    await boss.send(runQueue, { lane, scope }, { singletonKey });
  }
}

async function noRunIsOpen({ pool }: TestDatabase): Promise<boolean> {
  const { rows } = await pool.query<{ rest: boolean }>(
    `select not exists (select from etl.runs where state = 'open')
        and not exists (
          select from pgboss.job
          where name = $1 and state in ('created', 'active', 'retry')
        ) as rest`,
    [runQueue],
  );
  return rows[0]?.rest ?? false;
}

async function isCopied({ pool }: TestDatabase): Promise<boolean> {
  const { rows } = await pool.query<{ copied: boolean | null }>(
    'select bool_and(last_success_at is not null) as copied from etl.feeds',
  );
  return rows[0]?.copied ?? false;
}

async function hanging({ pool }: TestDatabase, atMs: number): Promise<string> {
  const { rows } = await pool.query(
    `select (select json_agg(runs) from etl.runs where state = 'open') as runs,
            (select json_agg(walks) from etl.walks where state = 'running') as walks,
            (select json_agg(feeds) from etl.feeds) as feeds,
            (
              select json_agg(json_build_object('name', name, 'key', singleton_key, 'state', state,
                                                'started_on', started_on, 'start_after', start_after))
              from pgboss.job
              where state in ('created', 'active', 'retry') and name in ('runs', 'slices')
            ) as jobs`,
  );
  return `at ${atMs / 3_600_000} h a run hangs: ${JSON.stringify(rows)}`;
}
