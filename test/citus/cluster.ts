import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Client } from 'pg';
import { accountFor, give, run } from '../../src/postgres/programs.ts';
import { urlOfDatabase, withClient } from '../harness/client.ts';

/** What a server has not done by then hangs, in ms. */
const hangMs = 240_000;

/** A server of a cluster, as a test that kills it and starts it again knows it. */
export interface Node {
  /** Of its database `postgres`. */
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
}

/** A coordinator and its workers, not yet joined: each database joins them for itself. */
export interface Cluster {
  readonly binaries: string;
  readonly coordinator: Node;
  readonly workers: readonly Node[];
}

/**
 * Settings of a node. Nothing needs to survive a crash of the machine; `full_page_writes` and the rest
 * stay, since nodes are killed. Many databases at once, each with connections between the nodes.
 */
const settings = {
  listen_addresses: "'127.0.0.1'",
  shared_preload_libraries: "'citus'",
  fsync: 'off',
  max_connections: '300',
  max_worker_processes: '64',
  // The report is one statement of many parts: compiling it takes a minute, on one server too.
  jit: 'off',
  'citus.max_cached_conns_per_worker': '1',
  'citus.shard_count': '4',
  // What a killed worker left in the middle is settled when it comes back, and at once.
  'citus.recover_2pc_interval': "'1s'",
};

/** Makes and starts a coordinator and two workers below a directory. */
export async function startCluster(binaries: string, prefix: string): Promise<Cluster> {
  const directory = await mkdtemp(prefix);
  await chmod(directory, 0o755);
  const [coordinator, ...workers] = await Promise.all(
    ['coordinator', 'worker-1', 'worker-2'].map((name) => makeNode(binaries, directory, name)),
  );
  if (coordinator === undefined) throw new Error('no coordinator');
  const cluster = { binaries, coordinator, workers };
  try {
    await Promise.all([coordinator, ...workers].map((node) => startNode(cluster, node)));
  } catch (error) {
    await stopCluster(cluster);
    throw error;
  }
  return cluster;
}

async function makeNode(binaries: string, directory: string, name: string): Promise<Node> {
  const home = join(directory, name);
  const dataDirectory = join(home, 'data');
  await mkdir(home);
  const account = await accountFor(dataDirectory);
  await give(home, account);
  const initdb = [
    '--username=postgres',
    '--auth=trust',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
  ];
  await run(join(binaries, 'initdb'), [...initdb, '--pgdata', dataDirectory], account, hangMs);
  const port = await freePort();
  const lines = Object.entries({ ...settings, port, unix_socket_directories: `'${home}'` });
  await appendFile(
    join(dataDirectory, 'postgresql.conf'),
    lines.map(([key, value]) => `${key} = ${value}\n`).join(''),
  );
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, dataDirectory };
}

/** Starts a node that is stopped or was killed; resolves when it answers. */
export async function startNode({ binaries }: Cluster, node: Node): Promise<void> {
  const { dataDirectory } = node;
  const log = join(dataDirectory, '..', 'log');
  const args = ['start', '--wait', '--timeout=120', '--pgdata', dataDirectory, '--log', log];
  await run(join(binaries, 'pg_ctl'), args, await accountFor(dataDirectory), hangMs);
}

/** Kills a node without a farewell; resolves when none of its processes is left. */
export async function killNode({ binaries }: Cluster, { dataDirectory }: Node): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  const [pid] = (await readFile(file, 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGKILL');
  const account = await accountFor(dataDirectory);
  const until = performance.now() + hangMs;
  // Its children find out by themselves; until then the next server may not start.
  for (;;) {
    try {
      await run(join(binaries, 'pg_ctl'), ['status', '--pgdata', dataDirectory], account);
    } catch {
      return;
    }
    if (performance.now() > until) throw new Error('the killed server is still there');
  }
}

/** Stops all nodes and removes what they held. */
export async function stopCluster({ binaries, coordinator }: Cluster): Promise<void> {
  await removeCluster(binaries, join(coordinator.dataDirectory, '..', '..'));
}

/** What a run that was killed left: directories of the same prefix, with the number of a process that is gone. */
export async function removeStaleClusters(binaries: string, prefix: string): Promise<void> {
  const parent = dirname(prefix);
  for (const name of await readdir(parent)) {
    const pid = new RegExp(`^${basename(prefix)}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await removeCluster(binaries, join(parent, name));
  }
}

async function removeCluster(binaries: string, directory: string): Promise<void> {
  for (const node of await readdir(directory)) {
    const dataDirectory = join(directory, node, 'data');
    // The run's bundled program has none.
    if (!existsSync(dataDirectory)) continue;
    const args = ['stop', '--mode=immediate', '--pgdata', dataDirectory];
    const account = await accountFor(dataDirectory);
    await run(join(binaries, 'pg_ctl'), args, account, hangMs).catch(() => undefined);
  }
  await rm(directory, { recursive: true, force: true });
}

/** Makes the nodes know each other in a database that each of them has. */
export async function joinNodes({ coordinator, workers }: Cluster, name: string): Promise<void> {
  for (const node of [...workers, coordinator]) {
    await onDatabase(node, name, (client) => client.query('create extension if not exists citus'));
  }
  await onDatabase(coordinator, name, async (client) => {
    await client.query(`select citus_set_coordinator_host('127.0.0.1', $1)`, [coordinator.port]);
    for (const { port } of workers) {
      await client.query(`select citus_add_node('127.0.0.1', $1)`, [port]);
    }
  });
}

/** Runs `work` on one connection to a node's database. */
export const onDatabase = <Result>(
  { url }: Pick<Node, 'url'>,
  name: string,
  work: (client: Client) => Promise<Result>,
) => withClient(urlOfDatabase(url, name), work);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
