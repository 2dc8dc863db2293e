import { expect, test } from 'vitest';
import { MigrationError } from '../../../src/db/migration-error.ts';
import { whileCurrent } from '../../../src/db/migrate.ts';
import { freshDatabase } from '../../harness/database.ts';

const running = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped')));

test('work stops with a clear message when a newer version migrates the database', async () => {
  const { pool } = await freshDatabase();
  const work = whileCurrent(pool, new AbortController().signal, running);
  await pool.query(
    'insert into etl.migrations (hash, created_at) select hash, created_at + 1000000 from etl.migrations',
  );
  const error = await work.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(MigrationError);
  expect(String(error)).toMatch(/migrated by a newer version of explorer-etl: update this program/);
});

test('work ends by itself, or by its own signal, where the version stays', async () => {
  const { pool } = await freshDatabase();
  const stop = new AbortController();
  expect(await whileCurrent(pool, stop.signal, async () => 'done')).toBe('done');
  const work = whileCurrent(pool, stop.signal, running);
  stop.abort();
  expect(await work).toBe('stopped');
});
