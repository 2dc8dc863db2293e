import { randomBytes } from 'node:crypto';
import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { prepareDatabase } from '../../src/app.ts';
import { createPool } from '../../src/db/pool.ts';
import { grantRoles } from '../../src/db/roles.ts';
import { freshDatabase, type TestDatabase } from './database.ts';

/** A test's database as commands know one. */
export const opened = (database: Pick<TestDatabase, 'url' | 'pool'>) => ({
  ...database,
  db: drizzle(database.pool),
  embedded: null,
  close: async () => 'left-running' as const,
});

/** A prepared database whose roles are granted, and on which nobody else may create anything. */
export async function grantedDatabase(): Promise<TestDatabase> {
  const database = await freshDatabase();
  await prepareDatabase(opened(database));
  await grantRoles(database.pool);
  await database.pool.query(`
    do $$ begin
      execute format('revoke all on database %I from public', current_database());
    end $$;
    revoke all on schema public from public
  `);
  return database;
}

/** A user who logs in with one of the roles, and no other right. */
export async function userWith(database: TestDatabase, role: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await database.pool.query(`create role ${name} login password 'test' in role ${role}`);
  const url = new URL(database.url);
  url.username = name;
  url.password = 'test';
  const pool = createPool({ url: url.href, max: 4, applicationName: 'explorer-etl test user' });
  onTestFinished(async () => {
    await pool.end();
    const admin = createPool({ url: database.url, max: 1, applicationName: 'explorer-etl test' });
    await admin.query(`drop role ${name}`).catch(() => undefined);
    await admin.end();
  });
  return { url: url.href, pool, drop: async () => undefined };
}
