import type { Pool } from 'pg';
import { expect } from 'vitest';
import { migrate, type Migrated } from '../../../src/db/migrate.ts';
import { freshDatabase } from '../../harness/database.ts';
import { packageFolder, release } from './release.ts';

/** A small package: one table, and views upon views, in an order that is not the one of their names. */
export const items = `create or replace view etl.items as select id, name from etl.stock;
comment on view etl.items is 'Read by etl.best, and not the other way round.';
`;
export const best =
  'create or replace view etl.best as select name from etl.items where etl.is_good(id);\n';
export const isGood = `create or replace function etl.is_good(id int) returns boolean
language sql immutable return id > 1;
`;
export const first = { 'etl/items': items, 'etl/best': best, 'etl/is_good': isGood };

export const stock = `create table etl.stock (id int, name text); insert into etl.stock values (1, 'a'), (2, 'b');`;

/** A database that has the first release, and what brings it to another one. */
export async function firstRelease() {
  const { pool, url } = await freshDatabase('empty');
  const folder = await packageFolder();
  await release(folder, { 1: stock }, first);
  expect(await migrate(pool, [], folder)).toEqual({ applied: 1, views: 3 });
  const upgrade = async (views: Readonly<Record<string, string>>): Promise<Migrated> => {
    await release(folder, { 1: stock }, views);
    return migrate(pool, [], folder);
  };
  return { pool, url, folder, upgrade };
}

export async function namesOf(pool: Pool, view: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(`select name from ${view} order by name`);
  return rows.map(({ name }) => name);
}

export const exists = async (pool: Pool, view: string): Promise<boolean> =>
  (await pool.query('select from pg_class where oid = to_regclass($1)', [view])).rows.length > 0;
