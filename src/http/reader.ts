import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { createPool, type DatabaseTimeouts, ownConnections, quickReading } from '../db/pool.ts';
import { demandSession, type SessionWay } from '../db/route.ts';
import type { Database } from '../db/transaction.ts';

/** In ms; a second is long for a reader. */
const timeouts: DatabaseTimeouts = {
  answerMs: 15_000,
  server: { statement_timeout: 5_000, idle_in_transaction_session_timeout: 15_000 },
};
/** How long an idle connection stays open, in ms. */
const idleMs = 60_000;
const applicationName = 'explorer-etl page';
/** Maximum of waiting requests; later ones are refused. */
const mostWaiting = 32;

/** The database is not open yet, or too many requests wait. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

export type Reader = ReturnType<typeof createReader>;

/** Two read-only connections for all clients, separate from the work; opened on demand. */
export function createReader() {
  let source: string | null = null;
  let opened: Promise<Pool> | null = null;
  let ready: Pool | null = null;
  let isClosed = false;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();
  /** @throws BusyError before the database is known */
  const known = (): string => {
    if (source === null) throw new BusyError('Starting: the database is being opened.');
    return source;
  };
  /** @throws BusyError before the database is known, and errors of Postgres */
  const pool = async (): Promise<Pool> => {
    opened ??= openPool(known()).then(async (made) => {
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
    /** Names the database; another URL, such as one with a new password, needs new connections. */
    use(url: string) {
      if (url !== source) void opened?.then((old) => old.end()).catch(() => undefined);
      if (url !== source) opened = null;
      source = url;
    },
    known,
    pool,
    /** Reads after all earlier requests. @throws BusyError, and errors of Postgres */
    async inTurn<Value>(read: (db: Database) => Promise<Value>): Promise<Value> {
      if (waiting >= mostWaiting) throw new BusyError('Too many requests wait for the database.');
      waiting += 1;
      const mine = turn.then(async () => read(drizzle(await pool())));
      turn = mine.catch(() => undefined);
      return mine.finally(() => (waiting -= 1));
    },
    async close() {
      // An opening pool ends itself.
      isClosed = true;
      if (ready?.ended === false) await ready.end();
    },
  };
}

async function openPool(url: string): Promise<Pool> {
  const way = await demandSession(url);
  return createPool({
    ...way,
    max: ownConnections,
    applicationName,
    idleTimeoutMs: idleMs,
    dbTimeouts: timeouts,
    settings: { ...quickReading, default_transaction_read_only: 'on', ...(await rightsOf(way)) },
  });
}

/** A superuser drops its rights; not on Citus, which logs in to other servers as the set role. */
async function rightsOf(way: SessionWay): Promise<{ role?: string }> {
  const pool = createPool({ ...way, max: 1, applicationName, dbTimeouts: timeouts });
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
