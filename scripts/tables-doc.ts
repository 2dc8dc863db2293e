import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withServer } from '../bench/server.ts';
import { migrateUrl } from '../test/harness/client.ts';
import { createPool } from '../src/db/pool.ts';
import { tablesPage } from './tables-page.ts';

/** `npm run generate tables`: writes docs/tables.md from a database that was just migrated. */
const file = join(import.meta.dirname, '../docs/tables.md');

await withServer((server) =>
  server.withDatabase(async (url) => {
    await migrateUrl(url);
    const pool = createPool({ url, max: 1, applicationName: 'explorer-etl docs' });
    try {
      await writeFile(file, await tablesPage(pool));
    } finally {
      await pool.end();
    }
  }),
);
