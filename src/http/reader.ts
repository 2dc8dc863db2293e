import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { createPool } from '../db/pool.ts';
import { findRoute } from '../db/route.ts';
import { quickReading } from '../db/timeouts.ts';
import type { Database } from '../db/transaction.ts';

/** Where somebody looks, a second is long; in ms. */
const timeouts = { statementMs: 5_000, answerMs: 15_000, idleTransactionMs: 15_000 } as const;
/** How long the connection outlives the last look, in ms. */
const idleMs = 60_000;
const applicationName = 'explorer-etl page';

/** Which database is looked at. */
export interface Source {
  readonly url: string;
  /** Past a pooler; null where there is none. */
  readonly directUrl: string | null;
}

/** One connection for many who look: they never wait for those that work, nor those for them. */
export interface Reader {
  /** Whether one was named. */
  readonly isNamed: boolean;
  /** Its queries reject as long as the database does not answer, or none was named. */
  readonly db: Database;
  readonly pool: Pool;
  /** Names the database, once it is known. */
  use(source: Source): void;
  close(): Promise<void>;
}

/** A connection that only reads, made when it is first needed. */
export function createReader(): Reader {
  let source: Source | null = null;
  let opened: Promise<Pool> | null = null;
  let ready: Pool | null = null;
  let isClosed = false;
  const demand = (): Promise<Pool> => {
    if (source === null) return Promise.reject(new Error('the database is being opened'));
    opened ??= openPool(source).then(
      async (made) => {
        if (isClosed) await made.end();
        return (ready = made);
      },
      (error: unknown) => {
        opened = null;
        throw error;
      },
    );
    return opened;
  };
  const pool = new LatePool(demand) as unknown as Pool;
  return {
    get isNamed() {
      return source !== null;
    },
    pool,
    db: drizzle(pool),
    use: (named) => void (source = named),
    async close() {
      // One that is being opened is not waited for: it ends itself.
      isClosed = true;
      await ready?.end();
    },
  };
}

/** A pool that is opened with its first query, and again where that failed. */
class LatePool {
  readonly #demand: () => Promise<Pool>;

  constructor(demand: () => Promise<Pool>) {
    this.#demand = demand;
  }

  async query(...statement: Parameters<Pool['query']>): Promise<unknown> {
    return (await this.#demand()).query(...statement);
  }

  async connect(): Promise<unknown> {
    return (await this.#demand()).connect();
  }
}

async function openPool({ url, directUrl }: Source): Promise<Pool> {
  const way = directUrl ?? url;
  const route = await findRoute(way);
  return createPool({
    url: way,
    max: 1,
    applicationName,
    idleTimeoutMs: idleMs,
    dbTimeouts: timeouts,
    settings: { ...quickReading, default_transaction_read_only: 'on', ...(await rightsOf(way)) },
    ...(route.is === 'session' && { pooled: 'sessions' as const }),
    ...(route.is === 'transaction' && { pooled: 'transactions' as const }),
  });
}

/**
 * A superuser's rights are put off, as `query` does. Citus logs in to its other servers as the role that is
 * set, which can't log in.
 */
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
