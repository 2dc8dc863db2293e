import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startEmbeddedPostgres } from '../src/postgres/postgres.ts';
import { urlOfDatabase, withClient } from '../test/harness/client.ts';

/** An embedded Postgres with durable defaults, and a fresh database for each measurement. */
export interface Server {
  readonly dataDirectory: string;
  readonly url: string;
  withDatabase<Result>(use: (url: string) => Promise<Result>): Promise<Result>;
}

/** Runs `use` with a server of its own, and removes all of it afterwards. */
export async function withServer<Result>(
  use: (server: Server) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'explorer-etl-bench-'));
  // As root, the server runs as another user, who must get in.
  await chmod(directory, 0o755);
  const postgres = await startEmbeddedPostgres({ directory });
  const { url, dataDirectory } = postgres;
  try {
    const open = <Opened>(work: (url: string) => Promise<Opened>) => withDatabase(url, work);
    return await use({ dataDirectory, url, withDatabase: open });
  } finally {
    await postgres.stop();
    await rm(dirname(dataDirectory), { recursive: true, force: true });
    await rm(directory, { recursive: true, force: true });
  }
}

async function withDatabase<Result>(
  serverUrl: string,
  use: (url: string) => Promise<Result>,
  how = '',
): Promise<Result> {
  const name = `bench_${randomBytes(4).toString('hex')}`;
  await withClient(serverUrl, (client) => client.query(`create database ${name} ${how}`));
  try {
    return await use(urlOfDatabase(serverUrl, name));
  } finally {
    await withClient(serverUrl, (client) => client.query(`drop database ${name} with (force)`));
  }
}

/** A large database that is kept from one measurement to the next. */
export interface Kept {
  readonly url: string;
  /** What `use` does is undone afterwards, where the server is ours. */
  copied<Result>(use: (url: string) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** What is measured is in memory, and can be made again. */
const keptSettings = {
  shared_buffers: '2GB',
  maintenance_work_mem: '1GB',
  max_wal_size: '16GB',
  synchronous_commit: 'off',
  fsync: 'off',
};

/** The database that a URL names, or one of an embedded Postgres in a directory; it is made if absent. */
export async function openKept({
  'database-url': url,
  directory,
}: {
  readonly 'database-url'?: string | undefined;
  readonly directory?: string | undefined;
}): Promise<Kept> {
  if (url !== undefined) {
    return { url, copied: (use) => use(url), close: async () => undefined };
  }
  if (directory === undefined) throw new Error('give --database-url or --directory');
  await mkdir(directory, { recursive: true });
  // As root, the server runs as another user, who must get in.
  await chmod(directory, 0o755);
  const postgres = await startEmbeddedPostgres({ directory, settings: keptSettings });
  await withClient(postgres.url, async (client) => {
    const { rows } = await client.query(`select from pg_database where datname = 'seeded'`);
    if (rows.length === 0) await client.query('create database seeded');
  });
  return {
    url: urlOfDatabase(postgres.url, 'seeded'),
    copied: (use) => withDatabase(postgres.url, use, 'template seeded strategy file_copy'),
    close: () => postgres.stop(),
  };
}
