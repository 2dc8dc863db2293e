import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { give, run, type Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, unlessMissing } from './failure.ts';
import type { Home } from './home.ts';
import { draftPassword, writeAccess } from './password.ts';

/** `initdb` takes a second; a slow disk that syncs is given this many milliseconds. */
const initdbTimeoutMs = 120_000;

/** `initdb` fills a directory of this name, so one that was killed half-way is never mistaken for data. */
const draftPrefix = 'data.new-';

/**
 * Makes the data directory of `home` unless it is there. Call under the lock.
 * @throws EmbeddedPostgresError when it belongs to another major version, or cannot be made.
 */
export async function provideCluster(
  home: Home,
  binaries: Binaries,
  account: Account,
  isDurable: boolean,
): Promise<void> {
  const { dataDirectory } = home;
  const major = await unlessMissing(readFile(join(dataDirectory, 'PG_VERSION'), 'utf8'));
  if (major === undefined) return createCluster(home, binaries, account, isDurable);
  if (major.trim() === binaries.major) return undefined;
  throw new EmbeddedPostgresError(
    `${dataDirectory} holds data of Postgres ${major.trim()}, and this program ships ` +
      `Postgres ${binaries.major}: dump it with the program version that wrote it, or move it away`,
  );
}

async function createCluster(
  home: Home,
  { initdb }: Binaries,
  account: Account,
  isDurable: boolean,
): Promise<void> {
  const { directory, dataDirectory, passwordFile } = home;
  await removeDrafts(directory);
  // It was of data that is gone.
  await rm(passwordFile, { force: true });
  const draft = await mkdtemp(join(directory, draftPrefix));
  try {
    await give(draft, account);
    const options = [
      '--username=postgres',
      '--auth=scram-sha-256',
      `--pwfile=${(await draftPassword(home, account)).file}`,
      '--encoding=UTF8',
      // C for what libc decides: macOS has no C.UTF-8 of its own. The builtin provider does the rest.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(isDurable ? [] : ['--no-sync']),
    ];
    await run(initdb, [...options, '--pgdata', draft], account, initdbTimeoutMs);
    await writeAccess(draft, account);
    await rename(draft, dataDirectory);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new EmbeddedPostgresError(`Cannot create a database in ${directory}`, { cause: error });
  }
}

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(draftPrefix)) continue;
    // An initdb whose launcher was killed may still write there; its draft goes next time.
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 2 }).catch(
      () => {},
    );
  }
}
