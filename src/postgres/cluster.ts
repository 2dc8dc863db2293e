import { randomBytes } from 'node:crypto';
import * as files from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './failure.ts';
import { canRun, give, isRoot, run, sharedDirectory, type Account } from './programs.ts';

/** `initdb` takes a second, longer on a slow disk that syncs. */
const initdbTimeoutMs = 120_000;
/** `initdb` works in such a directory: a killed one is never mistaken for data. */
const draftPrefix = 'data.new-';
/** In the data directory, which only its owner can enter. */
const passwordName = 'explorer-etl.password';

/** Where the data is, links followed; undefined if there is none. */
export function findData(directory: string): Promise<string | undefined> {
  return unlessMissing(files.realpath(join(directory, 'data')));
}

/** The server's URL, with its password. */
export async function urlOf(dataDirectory: string, port: number): Promise<string> {
  const password = await files.readFile(join(dataDirectory, passwordName), 'utf8');
  return `postgres://postgres:${password.trim()}@127.0.0.1:${port}/postgres`;
}

/** Creates the data of `directory`. Call under the lock. */
export async function createData(
  directory: string,
  programs: string,
  account: Account,
  isDurable: boolean,
): Promise<string> {
  for (const name of await files.readdir(directory)) {
    if (!name.startsWith(draftPrefix)) continue;
    // An orphaned initdb may still write there; its draft goes next time.
    await files.rm(join(directory, name), { recursive: true, force: true }).catch(() => {});
  }
  const canReach = !isRoot() || (await canRun('/bin/sh', ['-c', 'cd "$0"', directory], account));
  const home = canReach ? directory : await relocatedHome(directory);
  const dataDirectory = join(home, 'data');
  const draft = await files.mkdtemp(join(home, draftPrefix));
  try {
    await give(draft, account);
    await initialize(draft, programs, account, isDurable);
    await files.rename(join(draft, 'data'), dataDirectory);
  } finally {
    await files.rm(draft, { recursive: true, force: true });
  }
  if (!canReach) {
    // A link to deleted data may exist.
    await files.rm(join(directory, 'data'), { force: true });
    await files.symlink(dataDirectory, join(directory, 'data'));
  }
  return dataDirectory;
}

/** Where root keeps data whose directory the server's account cannot enter. */
async function relocatedHome(directory: string): Promise<string> {
  const name = directory.replaceAll(/[^A-Za-z0-9]+/gu, '-').slice(-60);
  const home = await files.mkdtemp(join(await sharedDirectory('data'), `${name}-`));
  await files.chmod(home, 0o755);
  return home;
}

/** Creates `data` in the draft; every client needs a password. */
async function initialize(
  draft: string,
  programs: string,
  account: Account,
  isDurable: boolean,
): Promise<void> {
  const passwordFile = join(draft, passwordName);
  // base64url needs no escape in a URL or a shell.
  const password = randomBytes(24).toString('base64url');
  const options = { flag: 'wx', mode: 0o600, flush: isDurable };
  await files.writeFile(passwordFile, `${password}\n`, options);
  await give(passwordFile, account);
  const flags = [
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    // C for libc, because macOS has no C.UTF-8; the builtin provider does the rest.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(isDurable ? [] : ['--no-sync']),
    `--pgdata=${join(draft, 'data')}`,
  ];
  await run(join(programs, 'initdb'), flags, account, initdbTimeoutMs);
  await files.rename(passwordFile, join(draft, 'data', passwordName));
}
