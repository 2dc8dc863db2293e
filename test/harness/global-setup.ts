import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  cp,
  mkdtemp,
  readdir,
  readFile,
  rm,
  statfs,
  symlink,
} from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, type RolldownOptions } from 'rolldown';
import { loadConfig } from 'rolldown/config';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { parse } from 'yaml';
import { z } from 'zod';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { prepareUrl, urlOfDatabase, withClient } from './client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that tests may create databases on, and a migrated database to copy. */
    databaseServer: {
      url: string;
      template: string;
      /** Servers of the same cluster, which have a database of the same name. */
      others: readonly string[];
    };
    /** The entry of the program that tests start in processes of their own, as it is packed. */
    program: string;
    /** For mkdtemp: where this run's directories go; leftovers of killed runs are found by it. */
    directoryPrefix: string;
    /** Where the data is, once a test has made it, that others copy to have no `initdb` of their own. */
    initialized: string;
  }
}

interface Server {
  url: string;
  close(): Promise<void>;
}

/** Test databases are thrown away, so nothing needs to survive a crash. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // It would visit hundreds of databases that live for a second.
  autovacuum: 'off',
  // Postgres would plan a statement with parameters again for its first five executions, and few have more.
  plan_cache_mode: 'force_generic_plan',
};

const imagesSchema = z.object({ services: z.record(z.string(), z.object({ image: z.string() })) });

const directoryPrefix = 'explorer-etl-test-';

/**
 * A Postgres database is 300 files: 25 ms to copy in memory, 350 ms on a slow disk. In bytes: what
 * must be free there, since a container often gives it 64 MB and other programs need some too.
 */
const memoryNeeded = 4 * 1024 ** 3;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parent = await scratchParent();
  await removeStaleDirectories(parent);
  const prefix = join(parent, `${directoryPrefix}${process.pid}-`);
  project.provide('directoryPrefix', prefix);
  const initialized = `${prefix}initialized`;
  project.provide('initialized', initialized);
  const [program, server] = await Promise.all([bundleProgram(prefix), startServer(prefix)]);
  project.provide('program', program.main);
  project.onTestsRerun(program.bundle);
  const template = `explorer_etl_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  try {
    await createTemplate(server.url, template);
  } catch (error) {
    await server.close();
    throw error;
  }
  project.provide('databaseServer', { url: server.url, template, others: [] });
  return async () => {
    await dropDatabases(server.url, template);
    await server.close();
    await program.remove();
    await rm(initialized, { recursive: true, force: true });
  };
}

async function startServer(prefix: string): Promise<Server> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, close: async () => {} };
  return (await hasContainerEngine()) ? startContainer() : startEmbedded(prefix);
}

async function hasContainerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false;
  }
}

async function startContainer(): Promise<Server> {
  const service = `postgres-${process.env['TEST_POSTGRES_VERSION'] ?? '18'}`;
  const file = await readFile(join(import.meta.dirname, 'compose.yaml'), 'utf8');
  const image = imagesSchema.parse(parse(file)).services[service]?.image;
  if (image === undefined) throw new Error(`test/harness/compose.yaml has no ${service}`);
  const container = await new GenericContainer(image)
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withCommand(['postgres', ...Object.entries(settings).flatMap(([n, v]) => ['-c', `${n}=${v}`])])
    .withExposedPorts(5432)
    // The image starts a first server to initialise itself.
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
  return {
    url: `postgres://postgres:test@${address}/postgres`,
    close: async () => {
      await container.stop();
    },
  };
}

async function startEmbedded(prefix: string): Promise<Server> {
  const directory = await mkdtemp(prefix);
  // As root, the server runs as another user, who must get in.
  await chmod(directory, 0o755);
  const postgres = await startEmbeddedPostgres({ directory, settings });
  await hashPasswordOnce(postgres.url);
  return {
    url: postgres.url,
    close: async () => {
      await postgres.stop();
      await rm(dirname(postgres.dataDirectory), { recursive: true, force: true });
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A test opens dozens of connections; 4,096 rounds of hashing cost each one 10 ms of CPU on both sides. */
async function hashPasswordOnce(url: string): Promise<void> {
  const { username, password } = new URL(url);
  await withClient(url, async (admin) => {
    await admin.query('set scram_iterations = 1');
    await admin.query(`alter role ${username} password '${password}'`);
  });
}

async function scratchParent(): Promise<string> {
  try {
    await access('/dev/shm', constants.W_OK);
    const { bavail, bsize } = await statfs('/dev/shm');
    if (Math.min(bavail * bsize, freemem()) >= memoryNeeded) return '/dev/shm';
  } catch {
    // No such file system here.
  }
  return tmpdir();
}

/** A run that was killed leaves its server and its directory. */
async function removeStaleDirectories(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${directoryPrefix}(\\d+)-`).exec(name)?.[1]);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const directory = join(parent, name);
    try {
      await stopEmbeddedPostgres(directory);
      await rm(directory, { recursive: true, force: true });
    } catch {
      // Another user's, or a run that starts now removes it too.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

async function createTemplate(serverUrl: string, template: string): Promise<void> {
  await withClient(serverUrl, (admin) => admin.query(`create database ${template}`));
  await prepareUrl(urlOfDatabase(serverUrl, template));
}

/** The template and every copy of it, which all have its name at their beginning. */
async function dropDatabases(serverUrl: string, template: string): Promise<void> {
  await withClient(serverUrl, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [template],
    );
    for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
  });
}

const root = join(import.meta.dirname, '../..');
/** What the program reads beside its code. */
const beside = ['migrations', 'questions', 'sql', 'src', 'node_modules'];

/**
 * Bundles the program into a folder with the layout of its package: Node takes a second for the sources each time
 * that they start, and a tenth of one for the bundle.
 *
 * @param prefix for mkdtemp
 */
export async function bundleProgram(prefix: string) {
  const folder = await mkdtemp(prefix);
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of beside) await symlink(join(root, name), join(folder, name));
  const dir = join(folder, 'dist');
  /** Makes it of the sources as they are now. */
  const bundle = async () => {
    const config = (await loadConfig(join(root, 'rolldown.config.js'))) as RolldownOptions;
    await build({ ...config, cwd: root, output: { dir, format: 'esm', cleanDir: true } });
  };
  await bundle();
  return {
    /** Its entry. */
    main: join(dir, 'main.js'),
    bundle,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
