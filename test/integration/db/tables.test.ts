import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import config from '../../../drizzle.config.ts';
import { tablesPage } from '../../../scripts/tables-page.ts';
import { isEnforced } from '../../../src/db/layout.ts';
import { createTestDatabase, freshDatabase } from '../../harness/database.ts';

const root = join(import.meta.dirname, '../../..');
const schemas = ['explorer', 'etl'];

/** What the files export that drizzle-kit reads; three have the same names. */
async function declared(): Promise<Record<string, unknown>> {
  const all: unknown[] = [];
  for await (const file of glob([config.schema ?? []].flat(), { cwd: root })) {
    const module: object = await import(pathToFileURL(join(root, file)).href);
    all.push(...Object.values(module));
  }
  return Object.fromEntries(all.entries());
}

/** Columns, constraints, indexes and sequences of our schemas, one line each. */
async function catalog(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select concat_ws(' ', table_schema || '.' || table_name, column_name, udt_name,
              coalesce(collation_name, ''), numeric_precision, numeric_scale,
              'default ' || coalesce(column_default, 'none'), 'nullable ' || is_nullable,
              generation_expression) as line
     from information_schema.columns as col
     join information_schema.tables using (table_schema, table_name)
     where table_schema = any ($1) and table_type = 'BASE TABLE' and table_name not like '%migrations'
     union all
     select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
     from pg_constraint
     where connamespace::regnamespace::text = any ($1)
       -- What is not enforced is for tools only.
       and ${isEnforced}
       and conrelid::regclass::text not like '%migrations'
     union all
     select indexdef from pg_indexes where schemaname = any ($1) and tablename not like '%migrations'
     union all
     select concat_ws(' ', sequencename, data_type, start_value, increment_by)
     from pg_sequences where schemaname = any ($1) and sequencename <> 'migrations_id_seq'
     order by 1`,
    [schemas],
  );
  return rows.map(({ line }) => line);
}

test('a migrated database has the tables, columns, keys and indexes of the declarations, and no others', async () => {
  const [migrated, made] = [await freshDatabase(), await freshDatabase('empty')];
  await made.pool.query(schemas.map((schema) => `create schema ${schema};`).join(' '));
  const none = generateDrizzleJson({});
  const all = generateDrizzleJson(await declared(), none.id, schemas);
  for (const statement of await generateMigration(none, all)) await made.pool.query(statement);

  const columns = await catalog(migrated.pool);
  expect(columns.length).toBeGreaterThan(400);
  expect(columns).toEqual(await catalog(made.pool));
});

test('the newest operations are found by an index, and so are those of a day and of a transaction', async () => {
  // Its tables were always empty: the files of one that had rows change the plan.
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const session = await database.pool.connect();
  onTestFinished(() => session.release(true));
  // An empty table: the plan says whether an index can be used.
  await session.query(
    'set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off',
  );
  for (const [question, index] of [
    // In its order, without a sort of all.
    ['order by block_time desc limit 50', 'Merge Append'],
    ['order by block_time desc limit 50', 'user_operations_timestamp'],
    [`where block_time >= now() - interval '1 day'`, 'user_operations_timestamp'],
    [`where tx_hash = '0x'`, 'user_operations_transaction_hash'],
  ]) {
    const { rows } = await session.query<{ 'QUERY PLAN': string }>(
      `explain select userop_hash, sender_name, fee_native from explorer.operations_enriched ${question}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain(index);
    expect(plan).not.toContain('Seq Scan on user_operations');
  }
});

test('foreign keys show tools how tables relate, and have no triggers', async () => {
  const { query } = await freshDatabase();
  const rows = await query(`
    select (select count(*)::int from pg_constraint where contype = 'f' and conname like 'user\\_operations\\_%') as shown,
           (select count(*)::int from pg_trigger where tgisinternal and tgrelid = 'explorer.user_operations'::regclass) as triggers,
           current_setting('server_version_num')::int as version`);
  const [{ shown, triggers, version } = { shown: 0, triggers: 1, version: 0 }] = rows;
  expect(shown).toBe(version >= 180_000 ? 3 : 0);
  expect(triggers).toBe(0);
});

test('docs/tables.md says what the comments of a migrated database say', async () => {
  const { pool } = await freshDatabase();
  const file = join(root, 'docs/tables.md');
  const [written, page] = [await readFile(file, 'utf8'), await tablesPage(pool)];
  expect(written, 'docs/tables.md is out of date: run npm run generate tables').toBe(page);
});
