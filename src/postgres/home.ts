import { chmod, mkdir, mkdtemp, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { accountFor, isRoot, mayEnter, mayLiveIn } from './account.ts';
import { EmbeddedPostgresError, unlessMissing } from './failure.ts';

/** Where one embedded Postgres lives. */
export interface Home {
  /** Holds the data directory, the log, the port and the password. */
  readonly directory: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  /** The port used last, so that a restart answers where clients already look. */
  readonly portFile: string;
  /** The password that the server asks for; only its owner may read it. */
  readonly passwordFile: string;
  /** Present while the server is to stay up although nobody uses it. */
  readonly keepFile: string;
  /** Where a copy of the binaries goes when the packaged ones cannot be run in place. */
  readonly binariesDirectory: string;
  /** True when this is not inside the directory that was asked for. */
  readonly relocated: boolean;
}

/**
 * Where root keeps what the server's account must reach and the asked directory hides. Only root
 * can create it, so nobody else can have put a program there.
 */
const sharedDirectory = '/var/lib/explorer-etl';

/** Names the home of a relocated directory, and stays behind when a project is moved or renamed. */
const pointerName = 'postgres.relocated';

/**
 * Makes `directory` if it is absent and gives its real path.
 * @throws EmbeddedPostgresError when it cannot be made.
 */
export async function prepareDirectory(directory: string): Promise<string> {
  const path = resolve(directory);
  try {
    const firstMade = await mkdir(path, { recursive: true });
    // Only the data needs hiding, and Postgres does that. Under a strict umask what we make here
    // would be closed to the server's account.
    if (firstMade !== undefined) await openDownTo(path, firstMade);
    return await realpath(path);
  } catch (error) {
    throw new EmbeddedPostgresError(`Cannot create the directory ${path}`, { cause: error });
  }
}

async function openDownTo(path: string, firstMade: string): Promise<void> {
  for (let made = path; made.startsWith(firstMade); made = dirname(made)) await chmod(made, 0o755);
}

/** The home that `directory` already has, in itself or by its pointer; undefined when it has none. */
export async function findHome(directory: string): Promise<Home | undefined> {
  const pointer = await unlessMissing(readFile(join(directory, pointerName), 'utf8'));
  if (pointer !== undefined && pointer.trim() !== '') return homeAt(pointer.trim(), true);
  const home = homeAt(directory, false);
  return (await unlessMissing(stat(home.dataDirectory))) === undefined ? undefined : home;
}

/**
 * The home of `directory`, chosen now if it has none: the directory itself, or, when we are root
 * and the server's account cannot live there, one under `/var/lib/explorer-etl`. Call under the lock.
 *
 * @throws EmbeddedPostgresError when data exists that its owner can no longer reach, or when
 *   neither place will do.
 */
export async function settleHome(directory: string): Promise<Home> {
  const known = await findHome(directory);
  if (known !== undefined) {
    await mkdir(known.directory, { recursive: true });
    if (isRoot()) await demandReachable(known);
    return known;
  }
  const home = homeAt(directory, false);
  if (!isRoot() || (await mayLiveIn(directory, await accountFor(home.dataDirectory)))) return home;
  return relocate(directory);
}

async function demandReachable({ dataDirectory }: Home): Promise<void> {
  if ((await unlessMissing(stat(dataDirectory))) === undefined) return;
  // Starting an empty database elsewhere would look like a loss of the data that is here.
  if (await mayEnter(dataDirectory, await accountFor(dataDirectory))) return;
  throw new EmbeddedPostgresError(
    `The Postgres data in ${dataDirectory} cannot be reached by the user that owns it: ` +
      'open the directories above it (chmod o+x), or run as that user',
  );
}

async function relocate(directory: string): Promise<Home> {
  const homes = join(sharedDirectory, 'data');
  try {
    await prepareDirectory(homes);
    const made = await mkdtemp(join(homes, `${nameOf(directory)}-`));
    await chmod(made, 0o755);
    const home = homeAt(made, true);
    if (await mayLiveIn(made, await accountFor(home.dataDirectory))) {
      await writeFile(join(directory, pointerName), `${made}\n`);
      return home;
    }
  } catch (error) {
    throw new EmbeddedPostgresError(`Cannot keep data in ${homes}`, { cause: error });
  }
  throw new EmbeddedPostgresError(
    `Postgres does not run as root, and an ordinary user can reach neither ${directory} nor ${homes}`,
  );
}

/** Readable, and short enough for every file system; `mkdtemp` makes it unique. */
function nameOf(directory: string): string {
  const words = directory.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.join('-').slice(-60);
}

function homeAt(directory: string, relocated: boolean): Home {
  return {
    directory,
    dataDirectory: join(directory, 'data'),
    logFile: join(directory, 'postgres.log'),
    portFile: join(directory, 'postgres.port'),
    passwordFile: join(directory, 'postgres.password'),
    keepFile: join(directory, 'postgres.keep'),
    binariesDirectory: join(isRoot() ? sharedDirectory : directory, 'binaries'),
    relocated,
  };
}
