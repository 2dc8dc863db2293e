import { expect, test } from 'vitest';
import { freshDatabase } from '../harness/database.ts';

/** The tables of schema explorer for which a condition on their key's first column and their columns holds. */
async function tables(condition: string): Promise<string[]> {
  const { query } = await freshDatabase();
  const rows = await query(`
    select relname as name
    from pg_class as t
    left join pg_index on indrelid = t.oid and indisprimary
    left join pg_attribute as key on key.attrelid = t.oid and key.attnum = indkey[0]
    where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p') and ${condition}`);
  return rows.map(({ name }) => name);
}

test('every table of schema explorer has chain_id first in its key', async () => {
  expect(await tables(`key.attname is distinct from 'chain_id'`)).toEqual([]);
});

test.each(['first_seen_at', 'updated_at', 'page_id'])(
  'every table of schema explorer but chains has a %s that is never null',
  async (column) => {
    const lacksIt = `not exists (
      select from pg_attribute where attrelid = t.oid and attname = '${column}' and attnotnull)`;
    expect(await tables(lacksIt)).toEqual(['chains']);
  },
);

test("every table, the queue's too, has a primary key of columns that a publication sends", async () => {
  const { query } = await freshDatabase();
  const rows = await query(`
    select relid::regclass::text as name
    from pg_stat_user_tables
    left join pg_index on indrelid = relid and indisprimary
    where indkey is null or exists (
      -- Postgres 18 refuses updates unless the publication includes generated columns.
      select from pg_attribute
      where attrelid = relid and attnum = any(indkey) and attgenerated <> ''
    )`);
  expect(rows).toEqual([]);
});
