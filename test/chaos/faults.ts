import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Limits } from '../../simulator/index.ts';
import type { DatabaseProxy } from '../harness/servers.ts';
import type { Worker } from '../harness/process.ts';
import { requestsPerSecond } from './world.ts';

/** How long a worker is stopped, the database away, and the key's limit another, in ms, at most. */
const mostStoppedMs = 6_000;
const mostAwayMs = 2_500;
const mostSwallowedMs = 4_000;
const mostLimitedMs = 5_000;

/** What a fault works on. */
export interface Scene {
  readonly workers: Worker[];
  readonly proxy: DatabaseProxy;
  /** To the database itself, not through the proxy. */
  readonly pool: Pool;
  readonly random: () => number;
  readonly start: () => Worker;
  /** Stops the database's server and starts it again; null where it is others' too, and is left alone. */
  readonly restartServer: (() => Promise<void>) | null;
  readonly setLimits: (limits: Limits) => void;
}

/** A fault, and how often it is drawn. */
interface DrawnFault {
  readonly weight: number;
  readonly inject: (scene: Scene) => Promise<void>;
}

const drawWorker = ({ workers, random }: Scene) => workers[Math.floor(random() * workers.length)];

/** The explorer allows so much of the usual for a while, and says so in its headers, or does not. */
const limit = (share: number, headers: Limits['headers'] = 'stated') => ({
  weight: 1,
  async inject({ random, setLimits }: Scene) {
    setLimits({ requestsPerSecond: Math.ceil(requestsPerSecond * share), headers });
    await delay(random() * mostLimitedMs);
    setLimits({ requestsPerSecond });
  },
});

const restart: DrawnFault = { weight: 1, inject: async ({ restartServer }) => restartServer?.() };

/** All that is done to workers, their database and their key, with its weight. */
const faults: Readonly<Record<string, DrawnFault>> = {
  kill: {
    weight: 6,
    async inject(scene) {
      const victim = drawWorker(scene);
      if (victim === undefined) return;
      victim.kill('SIGKILL');
      await victim.exit;
      scene.workers[scene.workers.indexOf(victim)] = scene.start();
    },
  },
  'kill all': {
    weight: 1,
    async inject({ workers, start }) {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ exit }) => exit));
      for (const place of workers.keys()) workers[place] = start();
    },
  },
  stop: {
    weight: 3,
    async inject(scene) {
      const victim = drawWorker(scene);
      victim?.kill('SIGSTOP');
      await delay(scene.random() * mostStoppedMs);
      victim?.kill('SIGCONT');
    },
  },
  'cut the database': {
    weight: 4,
    inject: async ({ proxy }) => void proxy.cutAll(),
  },
  'refuse the database': {
    weight: 1,
    async inject({ proxy, random }) {
      proxy.set('refuse');
      proxy.cutAll();
      await delay(random() * mostAwayMs);
      proxy.set('open');
    },
  },
  'swallow what the database is sent': {
    weight: 1,
    async inject({ proxy, random }) {
      proxy.set('swallow');
      await delay(random() * mostSwallowedMs);
      proxy.set('open');
    },
  },
  'restart the database': restart,
  'end a session': { weight: 3, inject: endSession },
  'cancel a statement': { weight: 3, inject: breakStatement },
  'hold the ledger': { weight: 2, inject: holdLedger },
  'provoke a deadlock': { weight: 2, inject: provokeDeadlock },
  'lower the limit': limit(0.5),
  'raise the limit': limit(3),
  'lower the limit unsaid': limit(0.6, 'absent'),
  'say nothing of the limit': limit(1, 'unknown'),
};

/** Injects one of the faults, drawn by weight. @returns its name */
export async function injectOne(scene: Scene): Promise<string> {
  const all = Object.entries(faults);
  const total = all.reduce((sum, [, { weight }]) => sum + weight, 0);
  let left = scene.random() * total;
  const [name, fault] = all.find(([, { weight }]) => (left -= weight) < 0) ?? ['none', null];
  if (fault === restart && scene.restartServer === null) return 'nothing: the server is not ours';
  await fault?.inject(scene);
  return name;
}

/** What a fault within the database needs. */
type Reach = Pick<Scene, 'pool' | 'random'>;

/** How long the ledger is held, in ms, at most: less than a worker's statement may take. */
const mostHeldMs = 3_000;
/** How soon a session has to wait for a lock, in ms: a run comes every three seconds. */
const mostAwaitedMs = 4_000;
const pollMs = 20;

/** The workers' sessions are named after them. */
const ofWorkers = `datname = current_database() and application_name like 'chaos-%'`;

/** Has the server end a session of a worker, whatever it does. */
async function endSession({ pool, random }: Reach): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where ${ofWorkers}
       order by pid
       offset floor($1::float8 * (select count(*) from pg_stat_activity where ${ofWorkers}))
       limit 1
     ) as drawn`,
    [random()],
  );
}

/** Has the server cancel what a worker's session is at, if it is at anything. */
async function breakStatement({ pool }: Reach): Promise<void> {
  await pool.query(
    `select pg_cancel_backend(pid) from (
       select pid from pg_stat_activity where ${ofWorkers}
       order by state = 'active' desc, xact_start desc nulls last
       limit 1
     ) as drawn`,
  );
}

/** Keeps writers waiting behind their rows. */
async function holdLedger({ pool, random }: Reach): Promise<void> {
  await inTransaction(pool, async (session) => {
    if (!(await hasTables(session))) return;
    await session.query('lock table etl.pages in share mode');
    await delay(random() * mostHeldMs);
  });
}

/**
 * Closes a circle of locks: holds the open runs until a worker waits for one, then asks for a feed,
 * which the worker has locked before. The server ends the worker's transaction, as that waits longer.
 */
async function provokeDeadlock({ pool }: Reach): Promise<void> {
  await inTransaction(pool, async (session) => {
    if (!(await hasTables(session))) return;
    await session.query("set local deadlock_timeout = '20s'; set local lock_timeout = '5s'");
    await session.query("select from etl.runs where state = 'open' for update");
    const endMs = performance.now() + mostAwaitedMs;
    while (performance.now() < endMs) {
      const { rows } = await pool.query(
        `select from pg_locks join pg_stat_activity using (pid) where not granted and ${ofWorkers}`,
      );
      if (rows.length > 0) {
        await session.query('select from etl.feeds for update');
        return;
      }
      await delay(pollMs);
    }
  });
}

async function inTransaction(
  pool: Pool,
  work: (session: PoolClient) => Promise<void>,
): Promise<void> {
  const session = await pool.connect();
  try {
    await session.query('begin');
    await work(session);
  } finally {
    await session.query('rollback').catch(() => undefined);
    session.release();
  }
}

async function hasTables(session: PoolClient): Promise<boolean> {
  const { rows } = await session.query<{ there: boolean }>(
    "select to_regclass('etl.runs') is not null as there",
  );
  return rows[0]?.there ?? false;
}
