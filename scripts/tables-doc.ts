import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withServer } from '../bench/server.ts';
import { migrateUrl } from '../test/harness/client.ts';
import { createPool } from '../src/db/pool.ts';
import { dbtFile, dbtSources } from './dbt-package.ts';
import { tablesPage } from './tables-page.ts';

/** `npm run generate tables`: writes docs/tables.md and the sources of dbt from a database that was just migrated. */
const root = join(import.meta.dirname, '..');

await withServer((server) =>
  server.withDatabase(async (url) => {
    await migrateUrl(url);
    const pool = createPool({ url, max: 1, applicationName: 'explorer-etl docs' });
    try {
      await writeFile(join(root, 'docs/tables.md'), await tablesPage(pool));
      await writeFile(join(root, dbtFile), await dbtSources(pool));
    } finally {
      await pool.end();
    }
  }),
);
