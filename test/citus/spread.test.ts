import { randomBytes } from 'node:crypto';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client, Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { transact } from '../../src/db/transaction.ts';
import { userOperations } from '../../src/lists/user-operations/tables.ts';
import { upsert } from '../../src/load/upsert.ts';
import { openDatabaseScene } from '../fault/database-scene.ts';
import { killSyncs, seedOr } from '../fault/kills.ts';
import { urlOfDatabase } from '../harness/client.ts';
import { call, emptyFolder, eventually, startProgram } from '../harness/process.ts';
import { databaseAt, freshDatabase, type TestDatabase } from '../harness/database.ts';
import { movingChain, movingCopy, pollMs } from '../harness/moving-copy.ts';
import { joinNodes, killNode, onDatabase, startNode } from './cluster.ts';

const optimism = movingChain(10, 'optimism', 300);
const celo = movingChain(42220, 'celo', 120);

const migrate = ({ url }: Pick<TestDatabase, 'url'>, ...flags: readonly string[]) =>
  call(['migrate', ...flags], { env: { DATABASE_URL: url } });

/** A database of three servers that know each other, with nothing spread over them yet. */
async function unspread(): Promise<TestDatabase> {
  const cluster = inject('cluster');
  const { coordinator, workers } = cluster;
  const name = `unspread_${randomBytes(6).toString('hex')}`;
  const nodes = [coordinator, ...workers];
  for (const node of nodes) {
    await onDatabase(node, 'postgres', (client) => client.query(`create database ${name}`));
  }
  await joinNodes(cluster, name);
  const url = urlOfDatabase(coordinator.url, name);
  const drop = async () => {
    if (!database.pool.ended) await database.pool.end();
    for (const node of nodes) {
      await onDatabase(node, 'postgres', (client) =>
        client.query(`drop database ${name} with (force)`),
      );
    }
  };
  const database = databaseAt(url, 10);
  onTestFinished(drop);
  return { ...database, drop };
}

/** How many rows of the large table each worker has. */
async function rowsOfWorkers({ query }: TestDatabase): Promise<number[]> {
  const rows = await query(`
    select sum(result::int)::int as rows
    from run_command_on_shards('explorer.user_operations', 'select count(*) from %s')
    join citus_shards using (shardid)
    group by nodename, nodeport`);
  return rows.map((row) => row.rows);
}

test('a full table is spread, though that is killed, and then followed', async () => {
  const database = await unspread();
  expect((await migrate(database)).code).toBe(0);
  const copy = await movingCopy(database, [optimism, celo]);
  await copy.syncAt(0);
  // Of its own, so that the pool ends also where what is awaited never comes.
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin; lock table explorer.user_operations in row exclusive mode');
  const program = startProgram(['migrate', '--distribute'], {
    databaseUrl: database.url,
    explorerUrl: copy.simulator.url,
    cwd: await emptyFolder(),
  });
  await eventually('a wait for the lock', async () => {
    const rows = await database.query(`
      select from pg_stat_activity
      where application_name = 'explorer-etl' and wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  program.kill('SIGKILL');
  await program.ended();
  await holder.query('rollback');
  expect(await copy.faultsAt(0)).toEqual({});

  // Beside a sync, which waits meanwhile.
  const [spread] = await Promise.all([
    migrate(database, '--distribute'),
    copy.syncAt(pollMs, { overlapMs: 8 * pollMs }),
  ]);

  expect(spread.stdout).toMatch(
    /is distributed over the servers of the cluster by hash, with its \d+ rows/,
  );
  expect(spread.code).toBe(0);
  expect(await copy.faultsAt(pollMs)).toEqual({});
  const again = await migrate(database, '--distribute');
  expect(again.stdout).toMatch(/is already distributed over the servers/);
  expect(again.code).toBe(0);
  await copy.follow(pollMs);
  expect(await rowsOfWorkers(database)).toEqual([expect.any(Number), expect.any(Number)]);
});

const seed = seedOr(1);
test(`a sync that is killed again and again copies all (seed ${seed})`, async () => {
  expect(await killSyncs(seed)).toEqual({});
});

test('a start outlives a worker that is killed and comes back, and copies all', async () => {
  const cluster = inject('cluster');
  const [worker] = cluster.workers;
  if (worker === undefined) throw new Error('no worker');
  const scene = await openDatabaseScene(await freshDatabase());
  await scene.morePages(5);

  await killNode(cluster, worker);
  onTestFinished(() => startNode(cluster, worker).catch(() => undefined));
  await eventually('news of the loss', async () =>
    scene.log().includes('connection to the remote node'),
  );
  // It rests: pages that can't be stored would be paid for again and again.
  const rows = await scene.database.query(
    `select state, failure from etl.feeds where operation = 'user-operations'`,
  );
  expect(rows).toEqual([{ state: 'degraded', failure: 'not-stored' }]);
  await startNode(cluster, worker);

  await scene.end();
  expect(await scene.faults()).toEqual({});
});

test('a page of one item is committed on all servers or on none: in two phases', async () => {
  const database = await freshDatabase();
  const url = new URL(database.url);
  url.searchParams.set('options', '-c citus.log_remote_commands=on');
  const pool = new Pool({ connectionString: url.href });
  const said: string[] = [];
  pool.on('connect', (client) => {
    client.on('notice', ({ message }) => said.push(message ?? ''));
  });
  onTestFinished(() => pool.end());

  await transact(drizzle(pool), (tx) =>
    upsert(tx, userOperations, [{ chain_id: 10, hash: '0x01', block_number: 1, page_id: 1 }]),
  );

  expect(said.filter((message) => message.includes('PREPARE TRANSACTION'))).not.toEqual([]);
});
