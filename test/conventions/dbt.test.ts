import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dbtFile, dbtSources } from '../../scripts/dbt-package.ts';
import { freshDatabase } from '../harness/database.ts';

test('the sources of dbt have the comments, keys and references of a migrated database', async ({
  skip,
}) => {
  const { pool, query } = await freshDatabase();
  const [server] = await query(`select current_setting('server_version_num')::int as version`);
  skip(server?.version < 180_000, 'Postgres has no keys without enforcement before version 18');
  const written = await readFile(join(import.meta.dirname, '../..', dbtFile), 'utf8');
  const hint = `${dbtFile} is out of date: run npm run generate tables`;
  expect(await dbtSources(pool), hint).toBe(written);
});
