import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import type { Generation } from '../../../simulator/index.ts';
import { createTestDatabase, databaseAt } from '../../harness/database.ts';
import { hangMs } from '../../harness/process.ts';
import { runSync, openCopy, secretKey, smallChain } from '../../harness/sync.ts';
import { inLong } from '../../harness/long-cases.ts';

/** Every row of every table of the schema, with the page that wrote it, and when. */
async function allRows(pool: Pool): Promise<unknown[]> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select table_name as name from information_schema.tables
    where table_schema = 'explorer' and table_type = 'BASE TABLE' order by 1`);
  const found: unknown[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query(`select t::text from explorer.${name} as t order by 1`);
    found.push(name, ...rows);
  }
  return found;
}

/**
 * What the server counted for each table, when every other session is gone: a session hands in its
 * counts before it leaves pg_stat_activity.
 */
async function written(pool: Pool) {
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query(`
        select application_name from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and pid <> pg_backend_pid()`);
      expect(rows).toEqual([]);
    },
    { timeout: hangMs },
  );
  const { rows } = await pool.query<{ inserted: string }>(`
    select relname as table, n_tup_ins as inserted, n_tup_upd as updated, n_tup_del as deleted
    from pg_stat_user_tables where schemaname = 'explorer' order by 1`);
  return rows;
}

test.each<Generation>(['v12', ...inLong<Generation>('v10', 'v11')])(
  'a repeated sync of generation %s writes to no row and to no table',
  async (generation) => {
    const chain = smallChain({
      generation,
      userOperations: 230,
      batches: { first: 1, count: 4, blocks: 40 },
      gaps: [3],
      factories: 70,
      oddities: ['duplicates-in-page', 'duplicates-across-pages', 'missing-hash'],
    });
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const { simulator } = await openCopy(chain, { secretKey, database });
    const sync = async () => {
      const pool = createPool({ url: database.url, max: 10, applicationName: 'a sync' });
      const run = { url: simulator.url, chains: [chain], secretKey };
      const results = await runSync({ ...database, pool }, run);
      await pool.end();
      return results;
    };
    const { pool: reader } = databaseAt(database.url, 1);

    await sync();
    const first = { rows: await allRows(reader), written: await written(reader) };
    const requests = simulator.requests;
    const results = await sync();

    expect(results.map(({ state }) => state)).toEqual(['finished', 'finished', 'finished']);
    // Batches and factories are read whole again, user operations from the head to the floor.
    expect(simulator.requests).toBeGreaterThan(requests);
    expect(first.written.every(({ inserted }) => inserted === '0')).toBe(false);
    expect({ rows: await allRows(reader), written: await written(reader) }).toEqual(first);
  },
);
