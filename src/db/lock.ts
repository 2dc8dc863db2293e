import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { printable } from '../printable.ts';

/** How one waits for a lock of others: until when, and whom it tells of them. */
export interface Waiting {
  /** Aborts the wait. */
  readonly signal: AbortSignal;
  /** Told a line of who holds the lock, and what to do. */
  readonly tell: (line: string) => void;
}

/** A lock of the database, and what whoever holds it is at. */
export interface Lock {
  readonly key: bigint;
  /** Such as `brings the schema up to date`. */
  readonly work: string;
}

/** Waits for ever, and tells nobody. */
const inSilence: Waiting = { signal: new AbortController().signal, tell: () => undefined };

/** How often a lock that others hold is tried again, in ms. */
const retryMs = 100;
/** After so many tries somebody is told: two programs that start together wait for less. */
const quietTries = 10;

/**
 * Runs `work` while a transaction of its own holds the advisory lock `key`, waiting for it first. A lock
 * of a transaction ends with it wherever it runs: that of a session stays behind in a pooler's
 * connection when the program is killed. Whoever waits holds no connection.
 *
 * @throws the signal's reason where it aborts before the lock is free
 */
export async function withAdvisoryLock<T>(
  pool: Pool,
  lock: Lock,
  work: () => Promise<T>,
  waiting: Waiting = inSilence,
): Promise<T> {
  const client = await take(pool, lock, waiting);
  // A connection that is closed rolls back, whatever state it is in.
  let isFailed = true;
  try {
    const result = await work();
    await client.query('commit');
    isFailed = false;
    return result;
  } finally {
    client.release(isFailed);
  }
}

/** The connection whose transaction holds the lock. */
async function take(pool: Pool, lock: Lock, { signal, tell }: Waiting): Promise<PoolClient> {
  let told: number | null = null;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const holder = await tryOnce(pool, lock);
    if ('client' in holder) return holder.client;
    if (tries > quietTries && holder.pid !== null && holder.pid !== told) {
      told = holder.pid;
      tell(spell(lock, holder));
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Who has a lock, as far as Postgres tells this role. */
interface Holder {
  readonly pid: number | null;
  readonly application: string | null;
  readonly role: string | null;
  readonly address: string | null;
  readonly since: string | null;
}

async function tryOnce(
  pool: Pool,
  { key }: Lock,
): Promise<{ readonly client: PoolClient } | Holder> {
  const client = await pool.connect();
  let isFailed = true;
  try {
    // The work is done elsewhere, so silence here is no sign of death.
    await client.query(`begin; ${forEver}`);
    const { rows } = await client.query<{ is_mine: boolean }>(
      'select pg_try_advisory_xact_lock($1) as is_mine',
      [key.toString()],
    );
    if (rows[0]?.is_mine === true) {
      isFailed = false;
      return { client };
    }
    const { rows: holders } = await client.query<Holder>(holderOf, [key.toString()]);
    await client.query('rollback');
    client.release();
    isFailed = false;
    return holders[0] ?? nobody;
  } finally {
    if (isFailed) client.release(true);
  }
}

/** It let go in between. */
const nobody: Holder = { pid: null, application: null, role: null, address: null, since: null };

/** `transaction_timeout` came with Postgres 17. */
const forEver = `
  select set_config(name, '0', true)
  from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

const holderOf = `
  select pid, nullif(application_name, '') as application, usename as role, host(client_addr) as address,
         to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
  from pg_locks
  left join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and objsubid = 1
    and pg_locks.database = (select oid from pg_database where datname = current_database())
    and ((classid::bigint << 32) | objid::bigint) = $1`;

function spell({ work }: Lock, { pid, application, role, address, since }: Holder): string {
  const known = [
    application,
    role === null ? null : `role ${role}`,
    address === null ? null : `from ${address}`,
    since === null ? null : `since ${since}`,
  ].filter((part) => part !== null);
  const who = known.length === 0 ? '' : ` (${printable(known.join(', '))})`;
  return (
    `Waiting for another process that ${work}: session ${pid}${who}. This goes on when it ends; ` +
    `if it hangs, end it: select pg_terminate_backend(${pid})`
  );
}
