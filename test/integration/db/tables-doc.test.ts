import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tablesPage } from '../../../scripts/tables-page.ts';
import { freshDatabase } from '../../harness/database.ts';

const file = join(import.meta.dirname, '../../../docs/tables.md');

test('docs/tables.md says what the comments of a migrated database say', async () => {
  const { pool } = await freshDatabase();
  const [written, page] = [await readFile(file, 'utf8'), await tablesPage(pool)];
  expect(written, 'docs/tables.md is out of date: run npm run generate tables').toBe(page);
});
