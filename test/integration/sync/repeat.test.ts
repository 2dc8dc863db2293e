import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { startSimulator, type Generation, type SimulatedChain } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { hangMs } from '../../harness/hang.ts';

const seed = 11;
const secretKey = 'secret-of-the-key';
const chainOf = (generation: Generation): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: 'arbitrum',
  generation,
  userOperations: 230,
  batches: { first: 1, count: 4, blocks: 40 },
  gaps: [3],
  factories: 70,
  oddities: ['duplicates-in-page', 'duplicates-across-pages', 'missing-hash'],
});

/** Which page wrote each row, and when, of every table of the schema. */
async function provenance(pool: Pool): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'explorer' and table_type = 'BASE TABLE' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from explorer.${name} as t order by 1`,
    );
    found.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return found;
}

interface Written {
  readonly table: string;
  readonly inserted: string;
  readonly updated: string;
  readonly deleted: string;
}

/**
 * What the server counted for each table, when every other session is gone: a session hands in its
 * counts before it leaves pg_stat_activity.
 */
async function written(pool: Pool): Promise<Written[]> {
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query(
        `select application_name from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'
           and pid <> pg_backend_pid()`,
      );
      expect(rows).toEqual([]);
    },
    { timeout: hangMs },
  );
  const { rows } = await pool.query<Written>(
    `select relname as table, n_tup_ins as inserted, n_tup_upd as updated, n_tup_del as deleted
     from pg_stat_user_tables where schemaname = 'explorer' order by 1`,
  );
  return rows;
}

test.each<Generation>(['v10', 'v11', 'v12'])(
  'the same sync of generation %s again writes to no row and to no table',
  async (generation) => {
    const chain = chainOf(generation);
    const simulator = await startSimulator({ seed, chains: [chain], secretKey });
    onTestFinished(() => simulator.close());
    const database = await freshDatabase();
    const sync = async () => {
      const pool = createPool({ url: database.url, max: 10, applicationName: 'a sync' });
      const results = await runSync(
        { ...database, pool },
        { url: simulator.url, chains: [chain], secretKey },
      );
      await pool.end();
      return results;
    };
    const reader = createPool({ url: database.url, max: 1, applicationName: 'the reader' });
    onTestFinished(() => reader.end());

    await sync();
    const first = { rows: await provenance(reader), written: await written(reader) };
    const requests = simulator.requests;
    const results = await sync();

    expect(results.map(({ state }) => state)).toEqual(['finished', 'finished', 'finished']);
    // Batches and factories are read whole again, user operations from the head to the floor.
    expect(simulator.requests).toBeGreaterThan(requests);
    expect(first.written.every(({ inserted }) => inserted === '0')).toBe(false);
    expect(await provenance(reader)).toEqual(first.rows);
    expect(await written(reader)).toEqual(first.written);
  },
);
