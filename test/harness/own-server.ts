import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { freshDirectory } from './database.ts';

/** A Postgres of its own, for what would disturb other tests. It is stopped with the test. */
export async function ownServer(settings: Readonly<Record<string, string>>) {
  const directory = await freshDirectory();
  const options = { directory, settings: { fsync: 'off', ...settings } };
  const { url, dataDirectory } = await startEmbeddedPostgres(options);
  return {
    url,
    /** Kills it in whatever it does, starts it again, and tells its URL. */
    async crash(): Promise<string> {
      const file = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8');
      process.kill(Number(file.split('\n')[0]), 'SIGKILL');
      const again = await startEmbeddedPostgres(options);
      onTestFinished(() => again.stop());
      return again.url;
    },
  };
}
