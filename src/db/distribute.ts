import type { Pool, PoolClient } from 'pg';
import { changeLayout, countRows, demandSame, layoutOf, type LargeTable } from './layout.ts';
import { MigrationError } from './migrate.ts';
import { isEnforced } from './relations.ts';

/** What spreading a table came to: `already` is one that was spread before. */
export interface Distributed {
  readonly outcome: 'done' | 'already';
  readonly rows: string | null;
}

/**
 * Spreads a table over the servers of a Citus cluster. All other tables stay where they are, on the
 * coordinator. In one transaction: killed at any moment, it is spread or it is not, and can be run again.
 * The table can be read meanwhile; whoever writes waits.
 *
 * @throws MigrationError where there is no Citus, no server to spread over, or the table is partitioned
 */
export async function distribute(pool: Pool, table: LargeTable): Promise<Distributed> {
  const { name, spreadBy } = table;
  await demandCitus(pool, name);
  const layout = await layoutOf(pool, table);
  if (layout === 'partitioned') {
    throw new MigrationError(
      `${name} is partitioned: this program spreads a table or partitions it, not both.`,
    );
  }
  let moved: string | null = null;
  if (layout === 'plain') {
    await demandNodes(pool);
    moved = await changeLayout(pool, table, 'exclusive', async (session) => {
      const before = await countRows(session, name);
      await dropRelations(session, name);
      await session.query(`select create_distributed_table($1, $2)`, [name, spreadBy]);
      demandSame(name, before, await countRows(session, name));
      return before;
    });
  }
  await dropLocalRows(pool, name);
  return { outcome: moved === null ? 'already' : 'done', rows: moved };
}

/** Citus refuses foreign keys to tables that stay where they are, also those that are only told. */
async function dropRelations(session: PoolClient, name: string): Promise<void> {
  const { rows } = await session.query<{ statement: string }>(
    `select format('alter table %s drop constraint %I', $1::text, conname) as statement
     from pg_constraint
     where conrelid = $1::regclass and contype = 'f' and not ${isEnforced}`,
    [name],
  );
  for (const { statement } of rows) await session.query(statement);
}

/** Citus leaves what was copied where it was, unseen; also where a run was killed before this. */
async function dropLocalRows(pool: Pool, name: string): Promise<void> {
  const { rows } = await pool.query<{ bytes: string }>(
    'select pg_relation_size($1::regclass) as bytes',
    [name],
  );
  if (rows[0]?.bytes === '0') return;
  await pool.query('select truncate_local_data_after_distributing_table($1)', [name]);
}

async function demandCitus(pool: Pool, name: string): Promise<void> {
  const { rows } = await pool.query(`select from pg_extension where extname = 'citus'`);
  if (rows.length > 0) return;
  throw new MigrationError(
    `Citus is not installed in this database, so ${name} stays on this server. On the coordinator and each worker: "create extension citus"; then citus_add_node for each worker.`,
  );
}

async function demandNodes(pool: Pick<PoolClient, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ nodes: number; is_coordinator: boolean }>(
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
