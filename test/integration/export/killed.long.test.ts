import { join } from 'node:path';
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { call } from '../../support/call.ts';
import { freshDatabase, type TestDatabase } from '../../support/database.ts';
import { hangMs } from '../../support/hang.ts';
import { eventually, startProgram } from '../../support/process.ts';
import { openLake, type Lake, type ListedFile } from './lake.ts';

/** Days of so many operations, which take longer to write than to be seen half written. */
async function manyOperations(): Promise<TestDatabase> {
  const database = await freshDatabase();
  await database.pool.query(
    `insert into explorer.user_operations
       (chain_id, hash, "timestamp", fee, address_hash, first_seen_at, updated_at, page_id)
     select 10, '0x' || encode(sha256(n::text::bytea), 'hex'),
            timestamptz '2026-01-01' + (n % 3) * interval '1 day', n, '0x' || md5(n::text),
            now() - interval '1 hour', now() - interval '1 hour', 1
     from generate_series(1, 60000) as n`,
  );
  return database;
}

const start = (args: readonly string[], { url }: TestDatabase, { folder }: Lake) =>
  startProgram(['export', ...args, '--to', folder], {
    databaseUrl: url,
    explorerUrl: 'http://localhost:1',
    cwd: '/',
  });

/** Waits until a file of that day is half written. */
const halfWritten = (lake: Lake, day: string) =>
  eventually(
    `a file of ${day} to be half written`,
    hangMs,
    async () => {
      const folder = join(lake.folder, 'user_operations', 'chain_id=10', `day=${day}`);
      const names = await readdir(folder).catch(() => []);
      return names.some((name) => name.endsWith('.unfinished'));
    },
    2,
  );

const digests = (files: readonly ListedFile[]) => files.map(({ path, sha256 }) => [path, sha256]);

test('killed while it writes and run again, it leaves what an undisturbed run does', async () => {
  const database = await manyOperations();
  const whole = await openLake(database);
  await whole.exported(['user_operations']);
  const lake = await openLake(database);

  for (const day of ['2026-01-01', '2026-01-03']) {
    const program = start(['user_operations'], database, lake);
    await halfWritten(lake, day);
    program.kill('SIGKILL');
    expect(await program.ended(hangMs)).toMatchObject({ signal: 'SIGKILL' });
    expect((await lake.paths()).filter((path) => path.endsWith('.unfinished'))).not.toEqual([]);
  }
  await lake.exported(['user_operations']);

  const files = await lake.files('user_operations');
  expect(files).toHaveLength(3);
  expect(digests(files)).toEqual(digests(await whole.files('user_operations')));
  expect(await lake.paths()).toEqual(await whole.paths());
});

test('interrupted, it keeps what it wrote, says how to go on, and tells no password', async () => {
  const database = await manyOperations();
  const lake = await openLake(database);
  const program = start(['user_operations'], database, lake);
  await halfWritten(lake, '2026-01-02');
  program.kill('SIGINT');

  expect(await program.ended(hangMs)).toMatchObject({ code: 130 });
  expect(program.stderr).toMatch(/the same command goes on/u);
  // The one that was half written may have been read to its end by then.
  const files = await lake.files('user_operations');
  expect([1, 2]).toContain(files.length);
  expect(await lake.paths()).toEqual(['manifest.json', ...files.map(({ path }) => path)]);
  const { code, stdout } = await call(['export', 'user_operations', '--to', lake.folder], {
    env: { DATABASE_URL: database.url },
  });
  const counts = `Files: ${3 - files.length} written, ${files.length} kept.`;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(counts) });
  expect(stdout).toContain('60,000 rows');
  const { password } = new URL(database.url);
  expect(password).not.toBe('');
  expect(JSON.stringify(await lake.manifest())).not.toContain(password);
});
