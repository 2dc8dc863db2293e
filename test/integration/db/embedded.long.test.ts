import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { EmbeddedPostgresError } from '../../../src/postgres/programs.ts';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../../src/postgres/postgres.ts';
import { queryOnce as query } from '../../harness/client.ts';
import { freshDirectory } from '../../harness/database.ts';
import { initializedDirectory } from '../../harness/initialized.ts';

/** What these tests store need not survive the machine. */
const settings = { fsync: 'off' };

const isRoot = process.geteuid?.() === 0;
const refused = '28P01';

/** What the server answers to a client that knows the port and not the password. */
async function strangerMeets(url: string): Promise<string> {
  const guess = new URL(url);
  guess.password = 'guess';
  const error = await query(guess.href, 'select 1').catch((thrown: unknown) => thrown);
  return error instanceof Error && 'code' in error ? String(error.code) : 'is let in';
}

describe('a first start', () => {
  test('makes a durable UTF-8 database that only this machine reaches', async () => {
    const directory = await freshDirectory();
    const postgres = await startEmbeddedPostgres({ directory });
    expect(postgres).toMatchObject({ attached: false, relocated: false });
    expect(postgres.dataDirectory).toBe(join(directory, 'data'));
    const names = ['fsync', 'listen_addresses', 'unix_socket_directories', 'server_encoding'];
    const rows = await query(
      postgres.url,
      `select ${names.map((name) => `current_setting('${name}')`).join()},
              datlocprovider, datlocale, datcollversion is not null
         from pg_database where datname = 'postgres'`,
    );
    expect(rows).toEqual([['on', '127.0.0.1', '', 'UTF8', 'b', 'C.UTF-8', true]]);
  });

  test('lets in a user with the password, which only the owner may read', async () => {
    const directory = await freshDirectory();
    const { url } = await startEmbeddedPostgres({ directory, settings });
    const { password } = new URL(url);
    expect(await strangerMeets(url)).toBe(refused);
    expect(await query(url, 'select rolpassword from pg_authid where rolcanlogin')).toEqual([
      [expect.stringMatching(/^SCRAM-SHA-256\$/)],
    ]);
    const file = join(directory, 'data/explorer-etl.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(`${password}\n`);
    expect(password.length).toBeGreaterThanOrEqual(32);
    const log = await readFile(join(directory, 'data/postgres.log'), 'utf8');
    expect(log).toContain('ready to accept');
    expect(log).not.toContain(password);
  });

  test.runIf(isRoot)('keeps the password from another user of the machine', async () => {
    const directory = await initializedDirectory();
    await startEmbeddedPostgres({ directory, settings });
    const file = join(directory, 'data/explorer-etl.password');
    const other = { uid: 1, gid: 1, cwd: '/', stdio: 'pipe' } as const;
    expect(() => execFileSync('/bin/cat', [file], other)).toThrow(/Permission denied/);
  });

  test('reports the message of a server that does not start', async () => {
    const directory = await initializedDirectory();
    const start = startEmbeddedPostgres({ directory, settings: { ...settings, no_such: '1' } });
    const error = await start.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EmbeddedPostgresError);
    expect(String(error)).toMatch(
      /unrecognized configuration parameter "no_such"[^]*Set DATABASE_URL/,
    );
  });

  test('refuses data of another major version', async () => {
    const directory = await initializedDirectory();
    await writeFile(join(directory, 'data/PG_VERSION'), '17\n');
    await expect(startEmbeddedPostgres({ directory })).rejects.toThrow(
      /initialized by PostgreSQL version 17/,
    );
  });
});

test('an error of a full disk says to free some space', () => {
  const cause = new Error('database or disk is full');
  const { message } = new EmbeddedPostgresError('Cannot use the Postgres of here', { cause });
  expect(message).toBe(
    'Cannot use the Postgres of here: database or disk is full. Free some space on its disk.',
  );
});

describe('the lock of a start', () => {
  test('needs no space on a full disk, on which a command still reads', async () => {
    const directory = await initializedDirectory();
    await startEmbeddedPostgres({ directory, settings });
    const module = import.meta.resolve('../../../src/postgres/postgres.ts');
    const script = `const { startEmbeddedPostgres } = await import('${module}');
      console.log(await startEmbeddedPostgres({ directory: '${directory}' }).then(
        ({ attached }) => attached, ({ message }) => message));`;
    // A process that can write no byte to a file.
    const limited = `trap '' XFSZ; ulimit -f 0; exec "$0" --input-type=module --eval "$1"`;
    const said = execFileSync('/bin/sh', ['-c', limited, process.execPath, script], {
      encoding: 'utf8',
    });
    expect(said).toBe('true\n');
  });

  test('can be taken by its user alone, whatever the umask', async () => {
    const directory = await initializedDirectory();
    const mask = process.umask(0);
    try {
      await startEmbeddedPostgres({ directory, settings });
    } finally {
      process.umask(mask);
    }
    expect((await stat(join(directory, 'postgres.lock'))).mode & 0o777).toBe(0o600);
  });

  test('is waited for until a signal', async () => {
    const directory = await freshDirectory();
    const lock = new DatabaseSync(join(directory, 'postgres.lock'));
    lock.exec('begin exclusive');
    const stop = new AbortController();
    const starting = startEmbeddedPostgres({ directory, settings, signal: stop.signal });
    const reason = new Error('SIGTERM');
    stop.abort(reason);
    await expect(starting).rejects.toBe(reason);
    lock.close();
  });
});

describe('a second start', () => {
  test('attaches to the server that runs', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    const second = await startEmbeddedPostgres({ directory });
    expect(second).toMatchObject({ url: first.url, attached: true });
    expect(await query(second.url, 'show fsync')).toEqual([['off']]);
  });

  test('finds data and port as they were before a stop', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    await query(first.url, 'create table kept as select 1 as n');
    await first.stop();
    const second = await startEmbeddedPostgres({ directory, settings });
    expect(second).toMatchObject({ url: first.url, attached: false });
    expect(await query(second.url, 'select n from kept')).toEqual([[1]]);
  });

  test('takes another port when the last one is taken', async () => {
    const directory = await initializedDirectory();
    const first = await startEmbeddedPostgres({ directory, settings });
    await first.stop();
    const squatter = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
    await once(squatter, 'listening');
    try {
      const second = await startEmbeddedPostgres({ directory, settings });
      expect(second.url).not.toBe(first.url);
      expect(await query(second.url, 'select 1')).toEqual([[1]]);
    } finally {
      squatter.close();
    }
  });
});

describe('stop', () => {
  test('stops the server while others are connected', async () => {
    const directory = await initializedDirectory();
    const postgres = await startEmbeddedPostgres({ directory, settings });
    const person = new Client({ connectionString: postgres.url });
    person.on('error', () => undefined);
    await person.connect();
    const cut = new Promise<void>((resolve) => void person.once('end', resolve));
    expect(await stopEmbeddedPostgres(directory)).toBe(true);
    await cut;
    expect(await stopEmbeddedPostgres(directory)).toBe(false);
  });
});

describe.runIf(isRoot)('root in a directory that only root may enter', () => {
  test('finds the relocated data again', async () => {
    const directory = await freshDirectory();
    await chmod(directory, 0o700);
    const own = join(directory, 'etl');
    const first = await startEmbeddedPostgres({ directory: own, settings });
    try {
      expect(first.relocated).toBe(true);
      expect(first.dataDirectory.startsWith(directory)).toBe(false);
      const { mode, uid } = await stat(join(first.dataDirectory, 'explorer-etl.password'));
      expect(mode & 0o777).toBe(0o600);
      expect(uid).toBe((await stat(first.dataDirectory)).uid);
      expect(await strangerMeets(first.url)).toBe(refused);
      await query(first.url, 'create table kept as select 1 as n');
      await first.stop();
      const second = await startEmbeddedPostgres({ directory: own, settings });
      expect(second).toMatchObject({ relocated: true, dataDirectory: first.dataDirectory });
      expect(await query(second.url, 'select n from kept')).toEqual([[1]]);
    } finally {
      await stopEmbeddedPostgres(own);
      await rm(dirname(first.dataDirectory), { recursive: true });
    }
  });

  test('gets an error when data that was reachable no longer is', async () => {
    const directory = await freshDirectory();
    const own = join(directory, 'etl');
    await (await startEmbeddedPostgres({ directory: own, settings })).stop();
    await chmod(directory, 0o700);
    await expect(startEmbeddedPostgres({ directory: own })).rejects.toThrow(/Permission denied/);
  });
});
