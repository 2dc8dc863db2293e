import { migrate, type Migrated } from '../../src/db/migrate.ts';
import { createPool } from '../../src/db/pool.ts';
import { listNames } from '../../src/lists/index.ts';

/** Brings the database of a URL to the schema of the program, or to that of a folder. */
export async function migrateUrl(url: string, folder?: string): Promise<Migrated> {
  // One connection holds the lock, one works.
  const pool = createPool({ url, max: 2, applicationName: 'explorer-etl migrate' });
  try {
    return await migrate(pool, listNames(), folder);
  } finally {
    await pool.end();
  }
}
