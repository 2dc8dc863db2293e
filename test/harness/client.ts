import { Client } from 'pg';
import { prepareDatabase } from '../../src/app.ts';
import { migrate, type Migrated } from '../../src/db/migrate.ts';
import { createPool } from '../../src/db/pool.ts';
import { listViews } from '../../src/lists/views.ts';

/** Does something on a connection of its own. */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  // A killed server may take the connection with it; the statement under way says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The rows of a statement on a connection of its own, each as a list. */
export const queryOnce = (url: string, text: string): Promise<unknown[][]> =>
  withClient(url, async (client) => (await client.query({ text, rowMode: 'array' })).rows);

/** The URL of another database of the same server. */
export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Brings the database of a URL to the schema of the program, or to that of a folder. */
export async function migrateUrl(url: string, folder?: string): Promise<Migrated> {
  // One connection holds the lock, one works.
  const pool = createPool({ url, max: 2, applicationName: 'explorer-etl migrate' });
  try {
    return await migrate(pool, folder === undefined ? listViews() : [], folder);
  } finally {
    await pool.end();
  }
}

/** The same, and with its queue, as commands prepare it. */
export async function prepareUrl(url: string): Promise<Migrated> {
  const pool = createPool({ url, max: 2, applicationName: 'explorer-etl migrate' });
  try {
    return await prepareDatabase({ url, pool });
  } finally {
    await pool.end();
  }
}
