import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { distribute } from '../../src/db/layout.ts';
import { prepareUrl, urlOfDatabase } from '../harness/client.ts';
import { createPool } from '../../src/db/pool.ts';
import { largeTable } from '../../src/lists/registry.ts';
import { bundleProgram } from '../harness/global-setup.ts';
import { citusBinaries } from './binaries.ts';
import {
  type Cluster,
  joinNodes,
  onDatabase,
  removeStaleClusters,
  startCluster,
  stopCluster,
} from './cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: Cluster;
  }
}

const template = 'explorer_etl_test_spread';

const absent =
  'Skipped: Citus is not installed. Neither PG_BIN nor the PATH names a Postgres with it, nor has Debian one.';

/** A cluster for the run, and on it a database to copy, of which the large table is spread. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binaries = citusBinaries();
  if (binaries === null) {
    process.stdout.write(`${absent}\n`);
    return async () => undefined;
  }
  const own = join(tmpdir(), 'explorer-etl-citus-');
  await removeStaleClusters(binaries, own);
  const prefix = `${own}${process.pid}-`;
  const cluster = await startCluster(binaries, prefix);
  const { coordinator, workers } = cluster;
  const nodes = [...workers, coordinator];
  try {
    for (const node of nodes) {
      await onDatabase(node, 'postgres', (client) => client.query(`create database ${template}`));
    }
    await joinNodes(cluster, template);
    await prepareUrl(urlOfDatabase(coordinator.url, template));
    const pool = createPool({
      url: urlOfDatabase(coordinator.url, template),
      max: 2,
      applicationName: 'test',
    });
    await distribute(pool, largeTable);
    await pool.end();
    for (const node of nodes) await close(node);
  } catch (error) {
    await stopCluster(cluster);
    throw error;
  }
  const bundle = await bundleProgram(prefix);
  project.provide('program', bundle.main);
  project.provide('directoryPrefix', prefix);
  project.provide('cluster', cluster);
  const others = workers.map(({ url }) => url);
  project.provide('databaseServer', { url: coordinator.url, template, others });
  return async () => {
    await stopCluster(cluster);
    await bundle.remove();
  };
}

/** A database that someone uses can't be copied, and Citus has somebody look after each. */
async function close(node: Pick<Cluster['coordinator'], 'url'>): Promise<void> {
  await onDatabase(node, 'postgres', async (client) => {
    await client.query(`alter database ${template} with allow_connections false`);
    await client.query(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
      [template],
    );
  });
}
