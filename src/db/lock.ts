import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { printable } from '../printable.ts';
import { z } from 'zod';
import { rowsOf } from './transaction.ts';

/** How to wait for a lock. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
}

/** An advisory lock and its holder's work, such as `brings the schema up to date`. */
export interface Lock {
  readonly key: bigint;
  readonly work: string;
}

const inSilence: Waiting = { signal: new AbortController().signal, report: () => undefined };

const retryMs = 100;
/** Two programs that start together wait less. */
const quietTries = 10;

/**
 * Runs `work` while a separate transaction holds the lock: after a kill, a session lock would stay in a pooler's
 * connection. No connection is held between two tries.
 * @throws the signal's reason if it aborts before
 */
export async function withAdvisoryLock<T>(
  pool: Pool,
  lock: Lock,
  work: () => Promise<T>,
  { signal, report }: Waiting = inSilence,
): Promise<T> {
  let named: number | undefined;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const key = lock.key.toString();
    const client = await pool.connect();
    // Closing a connection rolls back, whatever its state.
    let isFailed = true;
    try {
      await client.query(`begin; ${forEver}`);
      const locked = await rowsOf(
        client,
        () => z.object({ is_mine: z.boolean() }),
        'select pg_try_advisory_xact_lock($1) as is_mine',
        [key],
      );
      if (locked[0]?.is_mine === true) {
        const result = await work();
        await client.query('commit');
        isFailed = false;
        return result;
      }
      const rows = await rowsOf(client, holderShape, holderOf, [key]);
      await client.query('rollback');
      isFailed = false;
      const [holder] = rows;
      if (tries > quietTries && holder !== undefined && holder.pid !== named) {
        named = holder.pid;
        report(describeHolder(lock, holder));
      }
    } finally {
      client.release(isFailed);
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The work runs in another session: silence is normal. Postgres 17 added `transaction_timeout`. */
const forEver = `
  select set_config(name, '0', true)
  from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/** A lock's holder, as far as Postgres shows it to this role. */
const holderShape = () => z.object({ pid: z.number(), known: z.string() });
type Holder = z.infer<ReturnType<typeof holderShape>>;

/** The holder of the advisory lock $1 of this database. */
const holderOf = `
  select pid, concat_ws(
    ', ', nullif(application_name, ''), 'role ' || usename, 'from ' || host(client_addr),
    'since ' || to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  ) as known
  from pg_locks
  left join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and objsubid = 1
    and pg_locks.database = (select oid from pg_database where datname = current_database())
    and ((classid::bigint << 32) | objid::bigint) = $1`;

const describeHolder = ({ work }: Lock, { pid, known }: Holder): string =>
  `Waiting for another process that ${work}: session ${pid}${known === '' ? '' : ` (${printable(known)})`}. ` +
  `This continues when that ends; if it hangs, end it: select pg_terminate_backend(${pid})`;
