import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { createPool } from '../db/pool.ts';
import { findRoute } from '../db/route.ts';
import { quickReading } from '../db/timeouts.ts';
import type { Database } from '../db/transaction.ts';

/** For a reader a second is long; in ms. */
const timeouts = { statementMs: 5_000, answerMs: 15_000, idleTransactionMs: 15_000 } as const;
/** How long a connection outlives its last query, in ms. */
const idleMs = 60_000;
const applicationName = 'explorer-etl page';
/** One for the status, one for everything else: no slow query keeps health and metrics waiting. */
const connections = 2;
/** So many requests wait for their turn; later ones are refused. */
const mostWaiting = 32;

/** Which database is read. */
interface Source {
  readonly url: string;
  /** Past a pooler; null: there is none. */
  readonly directUrl: string | null;
}

/** The database cannot be asked now: it is being opened, or too many requests wait. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

export type Reader = ReturnType<typeof createReader>;

/**
 * A few connections that only read, for all clients: they never wait for the work, nor the work for them. Connects
 * with the first query, and again after a failure.
 */
export function createReader() {
  let source: Source | null = null;
  let opened: Promise<Pool> | null = null;
  let ready: Pool | null = null;
  let isClosed = false;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();
  /** @throws BusyError before the database is known, and what Postgres throws while it cannot be opened */
  const pool = async (): Promise<Pool> => {
    if (source === null) throw new BusyError('The database is being opened.');
    opened ??= openPool(source).then(async (made) => {
      if (isClosed) await made.end();
      return (ready = made);
    });
    try {
      return await opened;
    } catch (error) {
      opened = null;
      throw error;
    }
  };
  return {
    /** Names the database, once it is known. */
    use: (named: Source) => void (source = named),
    pool,
    /**
     * Reads something after all that was requested before.
     *
     * @throws BusyError, and what Postgres throws
     */
    async inTurn<Value>(read: (db: Database) => Promise<Value>): Promise<Value> {
      if (waiting >= mostWaiting) throw new BusyError('Too many requests wait for the database.');
      waiting += 1;
      const mine = turn.then(async () => read(drizzle(await pool())));
      turn = mine.catch(() => undefined);
      return mine.finally(() => (waiting -= 1));
    },
    async close() {
      // One that is being opened is not waited for: it ends itself.
      isClosed = true;
      if (ready?.ended === false) await ready.end();
    },
  };
}

async function openPool({ url, directUrl }: Source): Promise<Pool> {
  const way = directUrl ?? url;
  const route = await findRoute(way);
  return createPool({
    url: way,
    max: connections,
    applicationName,
    idleTimeoutMs: idleMs,
    dbTimeouts: timeouts,
    settings: { ...quickReading, default_transaction_read_only: 'on', ...(await rightsOf(way)) },
    ...(route.is === 'session' && { pooled: 'sessions' as const }),
    ...(route.is === 'transaction' && { pooled: 'transactions' as const }),
  });
}

/** A superuser puts its rights off. On Citus it cannot: the role that is set logs in to the other servers. */
async function rightsOf(url: string): Promise<{ role?: string }> {
  const pool = createPool({ url, max: 1, applicationName, dbTimeouts: timeouts });
  try {
    const { rows } = await pool.query(
      `select from pg_roles
       where rolname = current_user and rolsuper
         and not exists (select from pg_extension where extname = 'citus')`,
    );
    return rows.length > 0 ? { role: 'pg_read_all_data' } : {};
  } finally {
    await pool.end();
  }
}
