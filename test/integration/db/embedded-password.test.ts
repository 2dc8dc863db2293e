import { execFileSync } from 'node:child_process';
import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
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

const everybody = 'host all all 127.0.0.1/32 trust\n';

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

/** A running server as earlier versions made it: it lets everybody in, and there is no password. */
async function trustingServer() {
  const directory = await freshDirectory();
  const postgres = await startEmbeddedPostgres({ directory, settings });
  await writeFile(join(postgres.dataDirectory, 'pg_hba.conf'), everybody);
  await query(postgres.url, 'select pg_reload_conf()');
  await expect.poll(() => strangerMeets(postgres.url)).toBe('is let in');
  await query(postgres.url, 'create table kept as select 1 as n');
  await query(postgres.url, 'alter role postgres password null');
  await rm(join(directory, 'postgres.password'));
  return { directory, server: postgres };
}

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
    const file = join(directory, 'postgres.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(`${new URL(url).password}\n`);
    expect(new URL(url).password.length).toBeGreaterThanOrEqual(32);
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).not.toContain(
      new URL(url).password,
    );
  });

  test.runIf(isRoot)('keeps it from another user of the machine', async () => {
    const directory = await freshDirectory();
    await startEmbeddedPostgres({ directory, settings });
    const reading = () =>
      execFileSync('/bin/cat', [join(directory, 'postgres.password')], {
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
      const { mode, uid } = await stat(join(home, 'postgres.password'));
      expect(mode & 0o777).toBe(0o600);
      expect(uid).toBe((await stat(postgres.dataDirectory)).uid);
      expect(await strangerMeets(postgres.url)).toBe(refused);
    } finally {
      await stopEmbeddedPostgres(asked);
      await rm(home, { recursive: true });
    }
  });
});

describe('a database of a version that let everybody in', () => {
  test('asks for a password from the next start on, and keeps its data', async () => {
    const { directory, server } = await trustingServer();
    await server.stop();
    const { url } = await startEmbeddedPostgres({ directory, settings });
    expect(await strangerMeets(url)).toBe(refused);
    expect(await query(url, 'select n from kept')).toEqual([[1]]);
    const log = await readFile(join(directory, 'postgres.log'), 'utf8');
    expect(log).not.toContain(new URL(url).password);
  });

  test('asks for one while it runs, as soon as somebody attaches', async () => {
    const { directory } = await trustingServer();
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(second.attached).toBe(true);
    expect(await strangerMeets(second.url)).toBe(refused);
    expect(await query(second.url, 'select n from kept')).toEqual([[1]]);
  });

  test('is let go on by whoever comes after a kill in the middle of that', async () => {
    const directory = await freshDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    const file = join(directory, 'postgres.password');
    await rename(file, `${file}.new`);
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(second.url).toBe(first.url);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

test('a password that is lost is told, with what to do, which then works', async () => {
  const directory = await freshDirectory();
  const server = await startEmbeddedPostgres({ directory, settings });
  await rm(join(directory, 'postgres.password'));
  await expect(startEmbeddedPostgres({ directory, settings })).rejects.toThrow(
    /postgres\.password is missing[^]*127\.0\.0\.1\/32 trust[^]*start again/,
  );
  await server.stop();
  await writeFile(join(server.dataDirectory, 'pg_hba.conf'), everybody);
  const { url } = await startEmbeddedPostgres({ directory, settings });
  expect(await strangerMeets(url)).toBe(refused);
});
