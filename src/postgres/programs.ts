import { execFile } from 'node:child_process';
import * as files from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { errorOf } from '../failure.ts';
import { isForeign } from '../owner.ts';

const elsewhere = 'Set DATABASE_URL to use a Postgres of your own instead.';

/** The embedded Postgres cannot be provided. The message says why and what to do. */
export class EmbeddedPostgresError extends errorOf('embedded-postgres') {
  constructor(reason: string, options?: ErrorOptions) {
    const message = options?.cause instanceof Error ? options.cause.message : '';
    // Node puts the command line before the program's output.
    const because = message.replace(/^[^\n]*\n/u, '').replace(/\.?\s*$/u, '');
    const why = `${reason}${because && `: ${because}`}${reason.endsWith('\n') ? '' : '. '}`;
    const isFull = /no space left on device|disk is full/iu.test(why);
    super(why + (isFull ? 'Free some space on its disk.' : elsewhere), options);
  }
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The result, or undefined if the file or directory does not exist. */
export const unlessMissing = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });

/** @throws EmbeddedPostgresError if another user owns a directory or a link to it, or may write to it */
export async function demandOwn(directory: string): Promise<void> {
  const link = await unlessMissing(files.lstat(directory));
  if (link === undefined) return;
  const found = await files.stat(directory);
  if (isForeign(link) || found.uid !== process.geteuid?.()) {
    throw new EmbeddedPostgresError(
      `${directory} belongs to another user: run this as that user, or in another folder`,
    );
  }
  if (!isForeign(found, 0o022)) return;
  throw new EmbeddedPostgresError(
    `Other users may write to ${directory}: if you trust what is in it, run "chmod go-w ${directory}"`,
  );
}

/** Empty: our own user. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/** `nobody` on Linux: Postgres refuses root, and this account always exists. */
const unprivileged = 65534;
/** For programs that only print or check something. */
const checkTimeoutMs = 10_000;
/** The whole environment: ours holds the API key, and PG* variables, which the server obeys. */
export const launchEnvironment = { LC_ALL: 'C' };

export const isRoot = (): boolean => process.geteuid?.() === 0;

/** As root: the owner of existing data, else `nobody`. Otherwise our own user. */
export async function accountFor(dataDirectory: string): Promise<Account> {
  if (!isRoot()) return {};
  const owner = await unlessMissing(files.stat(dataDirectory));
  return owner === undefined || owner.uid === 0
    ? { uid: unprivileged, gid: unprivileged }
    : { uid: owner.uid, gid: owner.gid };
}

/** Gives `path` to the account, unless that is ours. */
export async function give(path: string, account: Account): Promise<void> {
  if (account.uid !== undefined) await files.chown(path, account.uid, account.gid);
}

/** Runs a program as the account. Rejects if it cannot run or exits with an error. */
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

export const canRun = (file: string, args: readonly string[], account: Account) =>
  run(file, args, account).then(
    () => true,
    () => false,
  );

/** A directory that every account can enter, whatever the umask, and only root can write. */
export async function sharedDirectory(name: string): Promise<string> {
  const shared = join('/var/lib/explorer-etl', name);
  for (const directory of [dirname(shared), shared]) {
    await files.mkdir(directory, { recursive: true, mode: 0o755 });
    await demandOwn(directory);
    await files.chmod(directory, 0o755);
  }
  return shared;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder of this platform's Postgres programs. If the account cannot run them in place, each version is copied
 * once: as root to the shared directory, otherwise to `directory`.
 */
export async function providePrograms(account: Account, directory: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const source = findPackage(`@embedded-postgres/${platform}`);
  await linkLibraries(source);
  const inPlace = join(source, 'native/bin');
  const check = (bin: string) => canRun(join(bin, 'postgres'), ['--version'], account);
  if (await check(inPlace)) return inPlace;
  const manifest = await files.readFile(join(source, 'package.json'), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest));
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

/** Links the libraries as the package's install script does, which npm may not run. */
async function linkLibraries(directory: string): Promise<void> {
  const list = files.readFile(join(directory, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of linksSchema.parse(JSON.parse(await list))) {
    try {
      await files.symlink(basename(source), join(directory, target));
    } catch (error) {
      // Exists already, or is not ours to write: then the copy gets the links.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) throw error;
    }
  }
}

/** Copies beside the target and renames, so that a copy is complete or absent. */
async function makeCopy(source: string, copy: string): Promise<void> {
  const draft = await files.mkdtemp(`${copy}.`);
  try {
    await files.cp(source, draft, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(draft);
    // After an install under a strict umask, only the installer can read the files.
    await run('/bin/chmod', ['-R', 'a+rX', draft], {});
    await files.rename(draft, copy);
  } catch (error) {
    // Another process was first; its copy is equal.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    await files.rm(draft, { recursive: true, force: true });
  }
}
