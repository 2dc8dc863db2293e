import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Scene } from './blows.ts';

/** What can be done from within a database; whoever cannot reach it does nothing. */
type Reach = Pick<Scene, 'pool' | 'random'>;

/** How long the ledger is held, in ms, at most: less than a worker's statement may take. */
const mostHeldMs = 3_000;
/** How soon somebody has to wait for a lock, in ms: a run comes every three seconds. */
const mostAwaitedMs = 4_000;
const pollMs = 20;

/** The workers' sessions are named after them. */
const ofWorkers = `datname = current_database() and application_name like 'chaos-%'`;

/** Has the server end a session of a worker, whatever it does. */
export async function endSession({ pool, random }: Reach): Promise<void> {
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
export async function breakStatement({ pool }: Reach): Promise<void> {
  await pool.query(
    `select pg_cancel_backend(pid) from (
       select pid from pg_stat_activity where ${ofWorkers}
       order by state = 'active' desc, xact_start desc nulls last
       limit 1
     ) as drawn`,
  );
}

/** Keeps writers waiting behind their rows. */
export async function holdLedger({ pool, random }: Reach): Promise<void> {
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
export async function provokeDeadlock({ pool }: Reach): Promise<void> {
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
