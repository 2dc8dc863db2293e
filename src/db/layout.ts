import type { PoolClient, Pool } from 'pg';
import { isRetryable } from './failure.ts';
import { MigrationError } from './migrate.ts';
import { inTransaction } from './session.ts';

/** A table that may outgrow one machine, and the column that its rows are spread by then. */
export interface LargeTable {
  /** Schema and name. */
  readonly name: string;
  /** A column of its primary key with many values. */
  readonly spreadBy: string;
}

/** How a large table lies: whole, as partitions of this server, or spread over servers by Citus. */
export type Layout = 'plain' | 'partitioned' | 'distributed';

/**
 * How long a change of layout waits for a lock, in ms: whoever writes waits behind it as long. Unless the
 * URL or the role has a lock_timeout of its own.
 */
const lockWaitMs = 10_000;

/**
 * How a table lies now.
 *
 * @throws MigrationError where Citus keeps it in a way that this program does not know
 */
export async function layoutOf(
  session: Pick<PoolClient, 'query'>,
  { name, spreadBy }: LargeTable,
): Promise<Layout> {
  const { rows } = await session.query<{ kind: string; has_citus: boolean }>(
    `select relkind as kind,
            exists (select from pg_extension where extname = 'citus') as has_citus
     from pg_class where oid = to_regclass($1)`,
    [name],
  );
  const [table] = rows;
  if (table?.has_citus === true) {
    const { rows: spread } = await session.query<{ by: string | null }>(
      `select column_to_column_name(logicalrelid, partkey) as by
       from pg_dist_partition where logicalrelid = $1::regclass`,
      [name],
    );
    const by = spread[0]?.by;
    if (by === spreadBy) return 'distributed';
    if (by !== undefined) {
      throw new MigrationError(
        `Citus keeps ${name} ${by === null ? 'without a distribution column' : `distributed by ${by}`}, which is not by ${spreadBy}: run "select undistribute_table('${name}')" first.`,
      );
    }
  }
  return table?.kind === 'p' ? 'partitioned' : 'plain';
}

/** Whoever begins a walk reads the table before it writes the walk: of two that wait one goes first. */
const mostAttempts = 5;

/**
 * Runs a change of layout in a transaction, with nobody writing meanwhile. Whoever commits a page, or
 * retries an item, locks its walk's row first: so that nobody who has read the table is to write to it.
 *
 * @param lock of the table: `exclusive` leaves it readable
 * @param work may be run again, where Postgres ended it for another transaction's sake
 * @throws MigrationError where somebody holds a lock for too long; nothing is changed then
 */
export async function changeLayout<T>(
  pool: Pool,
  { name }: Pick<LargeTable, 'name'>,
  lock: 'exclusive' | 'access exclusive',
  work: (session: PoolClient) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await changeOnce(pool, name, lock, work);
    } catch (error) {
      if (attempt < mostAttempts && isRetryable(error)) continue;
      if (!isLocked(error)) throw error;
      throw new MigrationError(
        `Somebody has used ${name} for longer than lock_timeout, ${lockWaitMs / 1000} s if not set: a long query, or a backup. Nothing was changed since the last line; run the command again.`,
        { cause: error },
      );
    }
  }
}

async function changeOnce<T>(
  pool: Pool,
  name: string,
  lock: string,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (session) => {
    await session.query(
      `select set_config('lock_timeout', $1, true) where current_setting('lock_timeout') = '0'`,
      [String(lockWaitMs)],
    );
    await session.query('lock table etl.walks in exclusive mode');
    await session.query(`lock table ${name} in ${lock} mode`);
    return work(session);
  });
}

const isLocked = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '55P03';

/** How many rows a table, or a part of it, holds. */
export async function countRows(
  session: Pick<PoolClient, 'query'>,
  from: string,
  values: readonly unknown[] = [],
): Promise<string> {
  const { rows } = await session.query<{ rows: string }>(
    `select count(*)::text as rows from ${from}`,
    [...values],
  );
  return rows[0]?.rows ?? '0';
}

/** @throws MigrationError where rows were lost on the way; the transaction ends with it */
export function demandSame(name: string, before: string, after: string): void {
  if (before === after) return;
  throw new MigrationError(
    `${name} held ${before} rows before and would hold ${after} after: nothing was changed.`,
  );
}
