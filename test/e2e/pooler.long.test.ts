import { describe, expect, test } from 'vitest';
import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { freshDatabase } from '../harness/database.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { poolerVersion, startPooler } from '../harness/servers.ts';
import { eventually, startProgram } from '../harness/process.ts';
import { differences } from '../harness/tables.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';

const seed = 11;
const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 1_500,
  batches: { first: 1, count: 20, blocks: 30 },
  factories: 200,
};
const operations = {
  'user-operations': {},
  'optimism-batch-blocks': { from_batch: 1, to_batch: 20 },
  factories: {},
};

const installed = poolerVersion();
/** An empty database behind a pooler, and the program on it. */
async function openScene(settings: Readonly<Record<string, string | number>>, latencyMs = 0) {
  const { place, database } = await openWorld({
    seed,
    chain,
    operations,
    explorer: { page_size: 10 },
    latency: () => latencyMs,
    database: await freshDatabase('empty'),
  });
  const { url, pool } = database;
  const environment = { ...place, databaseUrl: (await startPooler(url, settings)).through(url) };
  const begin = (args: readonly string[]) => startProgram(args, environment);
  const run = async (args: readonly string[]) => {
    const program = begin(args);
    const { code } = await program.ended();
    return { code, stdout: program.stdout, stderr: program.stderr };
  };
  return { pool, begin, run };
}

/** Locks of sessions that nobody is in any more, or that nobody should hold. */
async function advisoryLocks(pool: Pool): Promise<number> {
  const { rows } = await pool.query(`
    select from pg_locks
    where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`);
  return rows.length;
}

const pages = async (pool: Pool) => {
  const { rows } = await pool.query<{ pages: number }>(
    'select count(*)::int as pages from etl.pages',
  );
  return rows[0]?.pages ?? 0;
};

describe.skipIf(installed === null)('behind PgBouncer (skipped where it is not installed)', () => {
  test('in session mode, migrate, sync, verify and start work as without a pooler', async () => {
    const { pool, begin, run } = await openScene({ pool_mode: 'session', default_pool_size: 100 });

    const migrated = await Promise.all([run(['migrate']), run(['migrate']), run(['migrate'])]);
    expect(migrated.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(migrated.filter(({ stdout }) => stdout.startsWith('Applied'))).toHaveLength(1);
    expect((await run(['check'])).code).toBe(0);

    const synced = await run(['sync']);
    expect(synced).toMatchObject({ code: 0 });
    expect(synced.stderr).not.toMatch(/ERROR|failure|Deprecation/u);
    expect(await differences(pool, seed, chain)).toEqual({});
    expect(await ledgerFaults(pool, 'ended')).toEqual({});
    expect((await run(['verify'])).code).toBe(0);
    expect((await run(['status'])).stdout).toContain('10/user-operations');
    expect(await run(['query', 'operations-daily', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"operations":'),
    });

    const started = begin(['start']);
    await eventually('start to work', async () => started.stderr.includes('start.ready'));
    started.kill('SIGTERM');
    expect(await started.ended()).toEqual({ code: 0, signal: null });
    await eventually('all locks to be free', async () => (await advisoryLocks(pool)) === 0);
  });

  test('in transaction mode every command ends with 2, says what to do, and changes nothing', async () => {
    const { pool, run } = await openScene({ pool_mode: 'transaction' });
    for (const args of [['migrate'], ['sync'], ['start'], ['backfill'], ['check'], ['verify']]) {
      const { code, stderr } = await run(args);
      expect(stderr).toMatch(/pooler in transaction mode.*name the server itself/u);
      expect(code).toBe(2);
    }
    expect(await advisoryLocks(pool)).toBe(0);
    const { rows } = await pool.query(`select from pg_namespace where nspname = 'etl'`);
    expect(rows).toEqual([]);
  });

  test('a killed command leaves no lock, so the next one starts at once', async () => {
    const settings = { pool_mode: 'session', default_pool_size: 100 };
    const { pool, begin, run } = await openScene(settings, 20);
    const killedMigration = begin(['migrate']);
    await eventually('it to hold a lock', async () => (await advisoryLocks(pool)) > 0);
    killedMigration.kill('SIGKILL');
    await killedMigration.ended();
    expect((await run(['migrate'])).code).toBe(0);

    const killed = begin(['start']);
    await eventually('pages', async () => (await pages(pool)) > 20);
    killed.kill('SIGKILL');
    await killed.ended();
    await eventually('its locks to be free', async () => (await advisoryLocks(pool)) === 0);
    expect((await run(['sync'])).code).toBe(0);
    expect(await differences(pool, seed, chain)).toEqual({});
    expect((await run(['verify'])).code).toBe(0);
  });
});
