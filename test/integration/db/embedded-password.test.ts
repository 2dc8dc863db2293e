import { execFileSync } from 'node:child_process';
import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../../src/postgres/postgres.ts';
import { freshDirectory } from '../../harness/database.ts';

/** What these tests store need not survive the machine. */
const settings = { fsync: 'off' };
const isRoot = process.geteuid?.() === 0;
/** `daemon`: an account every Unix has, that is neither root nor the one root's server runs as. */
const ordinary = { uid: 1, gid: 1 };

async function query(url: string, statement: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text: statement, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** What the server answers to somebody who knows the port and not the password. */
async function strangerMeets(url: string): Promise<string> {
  const guess = new URL(url);
  guess.password = 'guess';
  const client = new Client({ connectionString: guess.href });
  try {
    await client.connect();
    return 'is let in';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'another error';
  } finally {
    await client.end().catch(() => undefined);
  }
}

const refused = '28P01';

describe('the embedded Postgres', () => {
  test('lets in whoever has the password, and nobody else', async () => {
    const directory = await freshDirectory();
    const { url } = await startEmbeddedPostgres({ directory, settings });
    expect(await query(url, 'select 1')).toEqual([[1]]);
    expect(await strangerMeets(url)).toBe(refused);
    expect(await query(url, 'select rolpassword from pg_authid where rolcanlogin')).toEqual([
      [expect.stringMatching(/^SCRAM-SHA-256\$/)],
    ]);
  });

  test('keeps it in a file that only its owner may read', async () => {
    const directory = await freshDirectory();
    const { url } = await startEmbeddedPostgres({ directory, settings });
    const file = join(directory, 'data/explorer-etl.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(`${new URL(url).password}\n`);
    expect(new URL(url).password.length).toBeGreaterThanOrEqual(32);
    expect(await readFile(join(directory, 'data/postgres.log'), 'utf8')).not.toContain(
      new URL(url).password,
    );
  });

  test.runIf(isRoot)('keeps it from another user of the machine', async () => {
    const directory = await freshDirectory();
    await startEmbeddedPostgres({ directory, settings });
    const reading = () =>
      execFileSync('/bin/cat', [join(directory, 'data/explorer-etl.password')], {
        ...ordinary,
        cwd: '/',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    expect(reading).toThrow(/Permission denied/);
  });

  test.runIf(isRoot)('keeps it beside data that had to go elsewhere', async () => {
    const directory = await freshDirectory();
    await chmod(directory, 0o700);
    const asked = join(directory, 'etl');
    const postgres = await startEmbeddedPostgres({ directory: asked, settings });
    const home = dirname(postgres.dataDirectory);
    try {
      expect(postgres.relocated).toBe(true);
      const { mode, uid } = await stat(join(postgres.dataDirectory, 'explorer-etl.password'));
      expect(mode & 0o777).toBe(0o600);
      expect(uid).toBe((await stat(postgres.dataDirectory)).uid);
      expect(await strangerMeets(postgres.url)).toBe(refused);
    } finally {
      await stopEmbeddedPostgres(asked);
      await rm(home, { recursive: true });
    }
  });
});
