import type { PoolClient, Pool } from 'pg';
import { z } from 'zod';
import { codeOfFailure, MigrationError } from './failure.ts';
import { withAdvisoryLock, type Waiting } from './lock.ts';
import { inTransaction, limitLockWait, rowsOf } from './transaction.ts';

/** As SQL, for a row of `pg_constraint`: whether it is enforced, optional since Postgres 18. */
export const isEnforced = `coalesce((to_jsonb(pg_constraint) ->> 'conenforced')::boolean, true)`;

/** A table that may outgrow one machine. */
interface LargeTable {
  readonly name: string;
  /** The distribution column: part of the primary key, with many values. */
  readonly spreadBy: string;
}

export const distributed = z.strictObject({
  table: z.string(),
  /** `already`: distributed before. */
  outcome: z.enum(['done', 'already']),
  /** Rows moved to other servers; null: no move was necessary. */
  rows: z.int().nullable(),
});
export type Distributed = z.infer<typeof distributed>;

/** One per database while a table moves: "etllayt" in ASCII. */
const layoutLock = { key: 0x65_74_6c_6c_61_79_74n, work: 'distributes a table' };

/** Writers queue behind the wait. */
const lockWaitMs = 10_000;

/** @throws MigrationError if Citus distributes the table by another column */
async function isDistributed(pool: Pool, { name, spreadBy }: LargeTable): Promise<boolean> {
  const rows = await rowsOf(
    pool,
    () => z.object({ by: z.string().nullable() }),
    `select column_to_column_name(logicalrelid, partkey) as by
     from pg_dist_partition where logicalrelid = $1::regclass`,
    [name],
  );
  const by = rows[0]?.by;
  if (by === undefined || by === spreadBy) return by !== undefined;
  throw new MigrationError(
    `Citus keeps ${name} ${by === null ? 'without a distribution column' : `distributed by ${by}`}, which is not by ${spreadBy}: run "select undistribute_table('${name}')" first.`,
  );
}

/**
 * Distributes a table over a Citus cluster in one transaction; all others stay on the coordinator. Readers continue,
 * writers wait.
 * @throws MigrationError without Citus or a server for rows, or if a lock is held too long
 */
export function distribute(pool: Pool, table: LargeTable, waiting?: Waiting): Promise<Distributed> {
  return withAdvisoryLock(pool, layoutLock, () => distributeAlone(pool, table), waiting);
}

async function distributeAlone(pool: Pool, table: LargeTable): Promise<Distributed> {
  const { name } = table;
  const { rows: citus } = await pool.query(`select from pg_extension where extname = 'citus'`);
  if (citus.length === 0) {
    throw new MigrationError(
      `Citus is not installed in this database, so ${name} stays on this server. On the coordinator and each worker: "create extension citus"; then citus_add_node for each worker.`,
    );
  }
  const isPlain = !(await isDistributed(pool, table));
  if (isPlain) await demandNodes(pool);
  const rows = isPlain ? await moveRows(pool, table) : null;
  await dropLocalRows(pool, name);
  return { table: name, outcome: isPlain ? 'done' : 'already', rows };
}

async function demandNodes(pool: Pool): Promise<void> {
  const rows = await rowsOf(
    pool,
    () => z.object({ nodes: z.number(), is_coordinator: z.boolean() }),
    `select (
       select count(*) from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary'
     )::int as nodes,
     (select groupid = 0 from pg_dist_local_group) as is_coordinator`,
  );
  const [found] = rows;
  if (found?.is_coordinator === false) {
    throw new MigrationError(
      'This server is a worker of a Citus cluster: name the coordinator in DATABASE_URL.',
    );
  }
  if ((found?.nodes ?? 0) > 0) return;
  throw new MigrationError(
    'The Citus cluster has no server that takes rows: add each worker with citus_add_node, on the coordinator.',
  );
}

/** @returns the number of rows */
async function moveRows(pool: Pool, { name, spreadBy }: LargeTable): Promise<number> {
  try {
    // Deadlocks are retried: a worker that begins a walk reads the table before it writes the walk.
    return await inTransaction(pool, async (session) => {
      await limitLockWait(session, lockWaitMs);
      // Blocks writers: a page's commit and an item's retry lock their walk first.
      await session.query('lock table etl.walks in exclusive mode');
      await session.query(`lock table ${name} in exclusive mode`);
      const before = await countOf(session, name);
      await dropRelations(session, name);
      // Nor does it take triggers (db/views.ts).
      await session.query(`drop trigger if exists note_moved_operation on ${name}`);
      await session.query(`select create_distributed_table($1, $2)`, [name, spreadBy]);
      const after = await countOf(session, name);
      if (before === after) return before;
      throw new MigrationError(
        `${name} held ${before} rows before and would hold ${after} after: nothing was changed.`,
      );
    });
  } catch (error) {
    if (codeOfFailure(error) !== '55P03') throw error;
    throw new MigrationError(
      `Another session has used ${name} for longer than lock_timeout, ${lockWaitMs / 1000} s if not set: a long query, or a backup. Nothing was changed; run the command again.`,
      { cause: error },
    );
  }
}

async function countOf(session: PoolClient, name: string): Promise<number> {
  const rows = await rowsOf(
    session,
    () => z.object({ rows: z.string() }),
    `select count(*) as rows from ${name}`,
  );
  return Number(rows[0]?.rows);
}

/** Citus refuses foreign keys to tables on the coordinator, even unenforced ones. */
async function dropRelations(session: PoolClient, name: string): Promise<void> {
  const rows = await rowsOf(
    session,
    () => z.object({ statement: z.string() }),
    `select format('alter table %s drop constraint %I', $1::text, conname) as statement
     from pg_constraint
     where conrelid = $1::regclass and contype = 'f' and not ${isEnforced}`,
    [name],
  );
  for (const { statement } of rows) await session.query(statement);
}

/** Citus leaves the copied rows in place, invisible; also after a run that was killed. */
async function dropLocalRows(pool: Pool, name: string): Promise<void> {
  const rows = await rowsOf(
    pool,
    () => z.object({ bytes: z.string() }),
    'select pg_relation_size($1::regclass) as bytes',
    [name],
  );
  if (rows[0]?.bytes === '0') return;
  await pool.query('select truncate_local_data_after_distributing_table($1)', [name]);
}
