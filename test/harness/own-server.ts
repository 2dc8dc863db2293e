import { Client } from 'pg';
import { startEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { freshDirectory } from './database.ts';
import { hangMs } from './hang.ts';
import { eventually } from './process.ts';

/** A Postgres of its own, for what would disturb other tests. It is stopped with the test. */
export async function ownServer(settings: Readonly<Record<string, string>>) {
  const directory = await freshDirectory();
  const options = { directory, settings: { fsync: 'off', ...settings } };
  let server = await startEmbeddedPostgres(options);
  return {
    url: server.url,
    /** Kills it in whatever it does, starts it again, and tells its URL. */
    async crash(): Promise<string> {
      process.kill(server.pid, 'SIGKILL');
      await untilRefused(server.url);
      server = await startEmbeddedPostgres(options);
      return server.url;
    },
  };
}

/** Waits for the end of a server that was killed. */
export async function untilRefused(url: string): Promise<void> {
  await eventually('the killed server to be gone', hangMs, async () => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return false;
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    }
  });
}
