import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { folderOnPath } from '../citus/binaries.ts';
import { accountFor, give, run } from '../../src/postgres/programs.ts';
import { freshDirectory } from './database.ts';
import { freePort } from './ports.ts';
import { hangMs } from './process.ts';

const debian = '/usr/lib/postgresql';
const needed = ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore'];

/** The folder of an installed Postgres with its client programs, which the embedded one lacks; null: none. */
export function clientPrograms(): string | null {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted().toReversed() : [];
  const folders = [folderOnPath(), ...versions.map((version) => join(debian, version, 'bin'))];
  const hasAll = (folder: string | null) =>
    folder !== null && needed.every((name) => existsSync(join(folder, name)));
  return folders.find(hasAll) ?? null;
}

/** Runs `pg_dump` or `pg_restore`, as a user would. @returns what it writes on stderr, and its exit code */
export async function runClient(name: 'pg_dump' | 'pg_restore', ...args: readonly string[]) {
  const file = join(clientPrograms() ?? '', name);
  return promisify(execFile)(file, [...args], { env: {} }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

/** A server that `pg_dump` can read, which is older than the embedded one. It ends with the running test. */
export async function installedServer(): Promise<string> {
  const home = join(await freshDirectory(), 'installed');
  const data = join(home, 'data');
  const account = await accountFor(data);
  await mkdir(home);
  await chmod(home, 0o755);
  await give(home, account);
  const program = (name: string, ...args: readonly string[]) =>
    run(join(clientPrograms() ?? '', name), [...args, '--pgdata', data], account, hangMs);
  const made = ['--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  await program('initdb', '--username=postgres', ...made);
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
  };
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  await program('pg_ctl', 'start', '--wait', '--log', join(home, 'log'), '-o', flags.join(' '));
  onTestFinished(() => program('pg_ctl', 'stop', '--mode=immediate'));
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}
