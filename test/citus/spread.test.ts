import { randomBytes } from 'node:crypto';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client, Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { transact } from '../../src/db/transaction.ts';
import { userOperations } from '../../src/lists/user-operations/index.ts';
import { upsert } from '../../src/load/upsert.ts';
import { openDatabaseScene } from '../fault/database-scene.ts';
import { killSyncs, seedOr } from '../fault/kills.ts';
import { urlOfDatabase } from '../harness/client.ts';
import { call, emptyFolder, eventually, startProgram } from '../harness/process.ts';
import { databaseAt, freshDatabase, type TestDatabase } from '../harness/database.ts';
import { ledgerFaults, sumFaults, sumUp } from '../harness/ledger.ts';
import { openCopy, plainChain } from '../harness/sync.ts';
import { watchedDifferences } from '../harness/tables.ts';
import { truthAt } from '../truth/truth.ts';
import { joinNodes, killNode, onDatabase, startNode } from './cluster.ts';

/** Between two polls, in simulated ms, and how many of them come before the lists are held against the truth. */
const pollMs = 300_000;
const polls = 3;

const moving = {
  ...plainChain,
  motion: {
    operationsPerMinute: 20,
    latePercent: 6,
    latestLateMs: 4 * pollMs,
    orphanedPercent: 4,
    reincludedPercent: 50,
  },
};
const chains: readonly SimulatedChain[] = [
  { ...moving, userOperations: 300 },
  { ...moving, id: 42220, name: 'celo', userOperations: 120 },
];
const chainSeed = 17;
const operations = ['user-operations'] as const;

type SyncedCopy = Awaited<ReturnType<typeof openCopy>>;

/** What is not as it should be of one who polls the chains: what comes and goes between two polls is not seen. */
async function faultsAt({ pool, query, db, open }: SyncedCopy, atMs: number): Promise<object> {
  await sumUp(db);
  const opened = (await open()).map((sentence) => [sentence, 'open']);
  const found = {
    ...Object.fromEntries(opened),
    ...(await ledgerFaults(pool, 'ended')),
    ...(await sumFaults(pool)),
  };
  for (const chain of chains) {
    const rows = await query('select hash from explorer.user_operations where chain_id = $1', [
      chain.id,
    ]);
    const stored = new Set(rows.map(({ hash }) => hash));
    const scope = { operations };
    const user_operations = truthAt(chainSeed, chain, scope, atMs).user_operations.filter(
      (row) => row['removed_at'] === null || stored.has(row['hash']),
    );
    const world = { seed: chainSeed, chain, scope };
    Object.assign(found, await watchedDifferences(pool, world, atMs, { user_operations }));
  }
  return found;
}

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

test('a filled table is distributed after a killed attempt, and sync keeps it current', async () => {
  const database = await unspread();
  expect((await migrate(database)).code).toBe(0);
  const copy = await openCopy(chains, { seed: chainSeed, database, run: { operations } });
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
  expect(await faultsAt(copy, 0)).toEqual({});

  // Beside a sync, which waits meanwhile.
  const [spread] = await Promise.all([
    migrate(database, '--distribute'),
    copy.syncAt(pollMs, { overlapMs: 8 * pollMs }),
  ]);

  expect(spread.stdout).toMatch(
    /is distributed over the servers of the cluster by hash, with its \d+ rows/,
  );
  expect(spread.code).toBe(0);
  expect(await faultsAt(copy, pollMs)).toEqual({});
  const second = await migrate(database, '--distribute');
  expect(second.stdout).toMatch(/is already distributed over the servers/);
  expect(second.code).toBe(0);
  for (let poll = 2; poll <= polls + 1; poll += 1) await copy.syncAt(poll * pollMs);
  const endMs = (polls + 1) * pollMs;
  // Once as deep as all that moved.
  await copy.syncAt(endMs, { overlapMs: 4 * (endMs + pollMs) });
  expect(await faultsAt(copy, endMs)).toEqual({});
  const [seen] = await database.query(`
    select exists (select 1 from explorer.late_arrivals) as late,
           exists (select 1 from explorer.user_operations where removed_at is not null) as removed`);
  expect(seen).toEqual({ late: true, removed: true });
  expect(await rowsOfWorkers(database)).toEqual([expect.any(Number), expect.any(Number)]);
});

const seed = seedOr(1);
test(`a sync that is killed again and again copies all (seed ${seed})`, async () => {
  expect(await killSyncs(seed)).toEqual({});
});

test('start survives a Citus worker that is killed and restarted, and copies every row', async () => {
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
    `select failure from etl.feeds where operation = 'user-operations'`,
  );
  expect(rows).toEqual([{ failure: 'not-stored' }]);
  await startNode(cluster, worker);

  await scene.end();
  expect(await scene.faults()).toEqual({});
});

test('a page of one item is committed in two phases, on all servers or on none', async () => {
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
    upsert(tx, userOperations.table, [{ chain_id: 10, hash: '0x01', block_number: 1, page_id: 1 }]),
  );

  expect(said.filter((message) => message.includes('PREPARE TRANSACTION'))).not.toEqual([]);
});
