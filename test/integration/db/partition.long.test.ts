import type { PoolClient } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { call, expectOneMessage } from '../../harness/call.ts';
import { emptyFolder } from '../../harness/child.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { movingChain, movingCopy, pollMs } from '../../harness/moving-copy.ts';
import { eventually, startProgram } from '../../harness/process.ts';

const optimism = movingChain(10, 'optimism', 300);
const celo = movingChain(42220, 'celo', 120);
const base = movingChain(8453, 'base', 60);

const migrate = (database: TestDatabase, ...flags: readonly string[]) =>
  call(['migrate', ...flags], { env: { DATABASE_URL: database.url } });

/** The rows of each partition. */
async function partitions({ pool }: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; rows: number }>(
    `select replace(inhrelid::regclass::text, 'explorer.user_operations_', '') as name,
            (xpath('/row/c/text()', query_to_xml(
              'select count(*) as c from ' || inhrelid::regclass, false, true, '')))[1]::text::int as rows
     from pg_inherits where inhparent = 'explorer.user_operations'::regclass`,
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

async function rowsOfChains({ pool }: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ chain: string; rows: number }>(
    'select chain_id as chain, count(*)::int as rows from explorer.user_operations group by 1',
  );
  return Object.fromEntries(rows.map(({ chain, rows: count }) => [chain, count]));
}

/** What there is of the table: all of it, wherever it is. */
async function contents({ pool }: TestDatabase) {
  const { rows } = await pool.query<{ rows: string; hashes: string; named: string }>(
    `select count(*) as rows, sum(hash_record_extended(operation, 0)) as hashes, (select count(*) from public.named) as named
     from explorer.user_operations as operation`,
  );
  return rows[0];
}

test('a table that is partitioned while it is empty is followed exactly, as chains are added', async () => {
  const database = await freshDatabase();
  const copy = await movingCopy(database, [optimism, celo]);
  expect((await migrate(database, '--partition')).code).toBe(0);
  await copy.syncAt(0, { chains: [optimism] });
  expect(Object.keys(await partitions(database))).toEqual(['default']);
  expect((await migrate(database, '--partition')).stdout).toContain('user_operations_10');

  const endMs = await copy.follow(0);

  const before = await partitions(database);

  expect(before['10']).toBeGreaterThan(optimism.userOperations);
  expect((await migrate(database, '--partition')).code).toBe(0);
  expect(await partitions(database)).toEqual({
    10: before['10'],
    42220: before['default'],
    default: 0,
  });
  expect(await copy.faultsAt(endMs)).toEqual({});
  const again = await migrate(database, '--partition');
  expect(again.stdout).toMatch(/^explorer\.user_operations is already partitioned by chain: /m);
  expect(again.code).toBe(0);
  await copy.syncAt(endMs + pollMs);
  await copy.syncAt(endMs + pollMs, { overlapMs: 8 * pollMs });
  expect(await copy.faultsAt(endMs + pollMs)).toEqual({});
});

/** Runs the program in a process of its own until it waits for what the test holds, and kills it there. */
async function killWaiting(database: TestDatabase, hold: string): Promise<PoolClient> {
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query(hold);
  const environment = {
    databaseUrl: database.url,
    explorerUrl: 'http://127.0.0.1:1',
    cwd: await emptyFolder(),
  };
  const program = startProgram(['migrate', '--partition'], environment);
  await eventually('a wait for the lock', hangMs, async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'explorer-etl'
         and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  program.kill('SIGKILL');
  expect((await program.ended(hangMs)).signal, program.stderr).toBe('SIGKILL');
  return holder;
}

async function letGo(database: TestDatabase, holder: PoolClient): Promise<void> {
  await holder.query('rollback');
  holder.release();
  await eventually('the end of its session', hangMs, async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'explorer-etl'`,
    );
    return rows.length === 0;
  });
}

test('a full table is partitioned, however often that is killed, and loses no row, view or right', async () => {
  const database = await freshDatabase();
  const copy = await movingCopy(database, [optimism, celo, base]);
  await copy.syncAt(0);
  await database.pool.query(
    `create view public.named as select * from explorer.user_operations where status;
     comment on table explorer.user_operations is 'As told.';
     grant select on explorer.user_operations to public`,
  );
  const before = await contents(database);
  // Before anything was done; when the smallest chain is about to be moved; when its rows are, and the
  // partition is to be attached.
  const holds = [
    'lock table explorer.user_operations in access share mode',
    'create table explorer.user_operations_8453 ()',
    'lock table explorer.user_operations_default in access share mode',
  ];

  for (const hold of holds) {
    await letGo(database, await killWaiting(database, hold));
    expect(await contents(database)).toEqual(before);
  }
  // The last time beside a sync, which waits now and then.
  const [partitioned] = await Promise.all([
    migrate(database, '--partition', '--quiet'),
    copy.syncAt(pollMs, { overlapMs: 8 * pollMs }),
  ]);

  expect(partitioned.code, partitioned.stderr).toBe(0);
  expect(await partitions(database)).toEqual({ ...(await rowsOfChains(database)), default: 0 });
  expect(await copy.faultsAt(pollMs)).toEqual({});
  const { rows } = await database.pool.query(
    `select obj_description(oid) as comment, relacl::text ~ '[{,]=r/' as is_public
     from pg_class where oid = 'explorer.user_operations'::regclass`,
  );
  expect(rows).toEqual([{ comment: 'As told.', is_public: true }]);
  const { rows: kept } = await database.pool.query(
    `select distinct array_to_string(reloptions, ', ') as options
     from pg_inherits join pg_class on oid = inhrelid
     where inhparent = 'explorer.user_operations'::regclass`,
  );
  expect(kept).toEqual([
    {
      options: 'autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02',
    },
  ]);
  await copy.follow(pollMs);
  expect(Number((await contents(database))?.named)).toBeGreaterThan(Number(before?.named));
});

test('what cannot be is refused, with what to do', async () => {
  const database = await freshDatabase();
  expectOneMessage(await migrate(database, '--partition', '--distribute'), /choose one/);
  expectOneMessage(
    await migrate(database, '--distribute'),
    /Citus is not installed.*citus_add_node/,
  );
  await database.pool.query(
    'create materialized view public.kept as select * from explorer.user_operations',
  );
  expectOneMessage(await migrate(database, '--partition'), /the materialized view kept: drop it/);
});

test('who reads for long puts it off, and is told of', async () => {
  const database = await freshDatabase();
  const reader = await database.pool.connect();
  onTestFinished(() => reader.release(true));
  await reader.query('begin; lock table explorer.user_operations in access share mode');
  const url = new URL(database.url);
  url.searchParams.set('options', '-c lock_timeout=50');
  const refused = await migrate({ ...database, url: url.href }, '--partition');
  expectOneMessage(refused, /used explorer.user_operations for longer .* run the command again/);
});
