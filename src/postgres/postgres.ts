import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import * as files from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  accountFor,
  canRun,
  demandOwn,
  EmbeddedPostgresError,
  give,
  isRoot,
  providePrograms,
  run,
  sharedDirectory,
  systemCode,
  unlessMissing,
  type Account,
} from './programs.ts';

/** A start takes 100 ms. */
const pollMs = 20;
/** Crash recovery reads at most max_wal_size, 1 GB of log. */
const startTimeoutS = 300;
/** A fast shutdown writes one checkpoint. */
const stopTimeoutS = 60;
/** Longer than the slowest start, so that waiting processes do not give up first. */
const lockTimeoutMs = 400_000;
/** Bounds of retries of a start whose obstacle passes by itself. */
const retryTimeoutMs = 30_000;
const retryPollMs = 250;
/** Added to a program's own time limit, so that it can report a timeout. */
const graceMs = 10_000;
/** `initdb` takes a second, longer on a slow disk that syncs. */
const initdbTimeoutMs = 120_000;
/** `initdb` works in such a directory: a killed one is never mistaken for data. */
const draftPrefix = 'data.new-';
/** In the data directory, which only its owner can enter. */
const passwordName = 'explorer-etl.password';
/** Lines of the log in an error. */
const quotedLines = 5;

/** `attached`: the server already ran. `relocated`: its data is in another directory. */
export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbeddedPostgres>>;
export type EmbeddedPostgresState = Awaited<ReturnType<typeof inspectEmbeddedPostgres>>;

/**
 * Uses a directory's Postgres server; starts it and creates its data if necessary. Safe from any number of processes.
 * `settings` apply only if this call starts it; commits are durable by default. If we are root and the server's
 * account cannot enter `directory`, `data` in it is a link into `/var/lib/explorer-etl`.
 * @throws EmbeddedPostgresError; the reason of an aborted `signal` while another process has the lock
 */
export async function startEmbeddedPostgres(options: {
  directory: string;
  settings?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}) {
  const { directory: given, settings = {}, signal } = options;
  // Others may list it: as root, the server's account enters it.
  const mode = isRoot() ? 0o755 : 0o700;
  return explained(given, async () => {
    await files.mkdir(given, { recursive: true, mode });
    // Another user may have been faster.
    await demandOwn(given);
    const directory = await files.realpath(given);
    const lock = await takeLock(join(directory, 'postgres.lock'), signal);
    try {
      const running = await findServer(await findData(directory));
      const server = running ?? (await launch(directory, settings));
      const relocated = dirname(server.dataDirectory) !== directory;
      const stop = async () => void (await stopEmbeddedPostgres(directory));
      return { ...server, attached: running !== undefined, relocated, stop };
    } finally {
      lock.close();
    }
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

/** Stops a directory's server, even with clients connected. Returns false if none runs. */
export async function stopEmbeddedPostgres(directory: string): Promise<boolean> {
  return explained(directory, async () => {
    const server = await findServer(await findData(directory));
    if (server === undefined) return false;
    const { dataDirectory } = server;
    const account = await accountFor(dataDirectory);
    const pgCtl = join(await providePrograms(account, directory), 'pg_ctl');
    const args = ['stop', '-s', '-m', 'fast', '-t', String(stopTimeoutS), '-D', dataDirectory];
    await run(pgCtl, args, account, stopTimeoutS * 1000 + graceMs);
    return true;
  });
}

/** A directory's Postgres; null without data. Starts nothing. */
export async function inspectEmbeddedPostgres(directory: string) {
  return explained(directory, async () => {
    const dataDirectory = await findData(directory);
    if (dataDirectory === undefined) return null;
    const server = (await findServer(dataDirectory)) ?? null;
    return { dataDirectory, logFile: logFileOf(dataDirectory), server };
  });
}

/** Opens a file in the data. There, as root, the server's account may put a link or a pipe to mislead or delay us. */
async function openRegular(file: string, flags = files.constants.O_RDONLY) {
  const plain = files.constants.O_NOFOLLOW | files.constants.O_NONBLOCK;
  const handle = await files.open(file, flags | plain);
  const found = await handle.stat();
  if (found.isFile() && found.nlink === 1) return handle;
  await handle.close();
  throw new EmbeddedPostgresError(`${file} is not a regular file with one name: remove it`);
}

/** The text from a byte on. */
async function readRegular(file: string, start = 0): Promise<string> {
  await using handle = await openRegular(file);
  return await text(handle.createReadStream({ start, autoClose: false }));
}

const logFileOf = (dataDirectory: string): string => join(dataDirectory, 'postgres.log');

/** Works on a directory that only we can write, as its files are run, obeyed and overwritten. */
async function explained<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    await demandOwn(directory);
    return await work();
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw cause;
    const why = systemCode(cause) === 'ELOOP' ? ' (remove the link)' : '';
    throw new EmbeddedPostgresError(`Cannot use the Postgres of ${directory}${why}`, { cause });
  }
}

/** Where the data is, links followed; undefined if there is none. */
function findData(directory: string): Promise<string | undefined> {
  return unlessMissing(files.realpath(join(directory, 'data')));
}

/** The server's URL, with its password. */
async function urlOf(dataDirectory: string, port: number): Promise<string> {
  const password = await readRegular(join(dataDirectory, passwordName));
  return `postgres://postgres:${password.trim()}@127.0.0.1:${port}/postgres`;
}

/** What creates and starts a server, and as whom. */
interface Means {
  readonly programs: string;
  readonly account: Account;
  readonly settings: Readonly<Record<string, string>>;
}

/** Creates the data of `directory`. Call under the lock. */
async function createData(directory: string, means: Means): Promise<string> {
  const { account } = means;
  const drafts = (await files.readdir(directory)).filter((name) => name.startsWith(draftPrefix));
  for (const name of drafts) await removeDraft(join(directory, name), account);
  const canReach = !isRoot() || (await canRun('/bin/sh', ['-c', 'cd "$0"', directory], account));
  const home = canReach ? directory : await relocatedHome(directory);
  const dataDirectory = join(home, 'data');
  const draft = await files.mkdtemp(join(home, draftPrefix));
  try {
    await initialize(draft, means);
    await files.rename(join(draft, 'data'), dataDirectory);
  } finally {
    await removeDraft(draft, account);
  }
  if (!canReach) {
    // A link to deleted data may exist.
    await files.rm(join(directory, 'data'), { force: true });
    await files.symlink(dataDirectory, join(directory, 'data'));
  }
  return dataDirectory;
}

/** As root, the account empties its folder: a link that another of its processes puts there could lead us elsewhere. */
async function removeDraft(draft: string, account: Account): Promise<void> {
  await canRun('/bin/rm', ['-rf', join(draft, 'data')], account);
  await files.rm(join(draft, passwordName), { force: true });
  // An orphaned initdb may still write there; its draft goes next time.
  for (const folder of [join(draft, 'data'), draft]) await files.rmdir(folder).catch(() => {});
}

/** Where root keeps data whose directory the server's account cannot enter. */
async function relocatedHome(directory: string): Promise<string> {
  const name = directory.replaceAll(/[^A-Za-z0-9]+/gu, '-').slice(-60);
  const home = await files.mkdtemp(join(await sharedDirectory('data'), `${name}-`));
  await files.chmod(home, 0o755);
  return home;
}

/** Creates `data` in the draft; every client needs a password. */
async function initialize(draft: string, { programs, account, settings }: Means): Promise<void> {
  const [data, passwordFile] = [join(draft, 'data'), join(draft, passwordName)];
  // The draft remains ours: no other process of the account replaces what is in it.
  await files.chmod(draft, 0o711);
  await files.mkdir(data, { mode: 0o700 });
  await give(data, account);
  const isDurable = settings['fsync'] !== 'off';
  // base64url needs no escape in a URL or a shell.
  const password = randomBytes(24).toString('base64url');
  await files.writeFile(passwordFile, `${password}\n`, { mode: 0o600, flush: isDurable });
  await give(passwordFile, account);
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  // C for libc, because macOS has no C.UTF-8; the builtin provider does the rest.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const flags = [...access, '--encoding=UTF8', ...locale, ...(isDurable ? [] : ['--no-sync'])];
  await run(join(programs, 'initdb'), [...flags, `--pgdata=${data}`], account, initdbTimeoutMs);
  await files.rename(passwordFile, join(data, passwordName));
}

/** Waits for a transaction on an empty SQLite file, Node's only lock that the kernel drops. It needs no room on a full disk. */
async function takeLock(file: string, signal: AbortSignal | undefined): Promise<DatabaseSync> {
  // Who can read the file can lock it.
  await (await files.open(file, 'a', 0o600)).close();
  for (const deadlineMs = performance.now() + lockTimeoutMs; ;) {
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      lock.exec('pragma journal_mode = memory; begin exclusive');
      return lock;
    } catch (error) {
      lock.close();
      // SQLITE_BUSY, https://www.sqlite.org/rescode.html#busy
      const isBusy = error instanceof Error && 'errcode' in error && error.errcode === 5;
      if (!isBusy || performance.now() > deadlineMs) throw error;
    }
    await sleep(pollMs, undefined, signal && { signal });
  }
}

/** `url` has the password: for this process and its user's terminal, never for a log or an error. */
type Server = NonNullable<Awaited<ReturnType<typeof findServer>>>;

/**
 * The running server, once it accepts connections. `postmaster.pid` holds one a line: pid, data directory, start time,
 * port, socket directory, address, shared memory key, status.
 */
async function findServer(dataDirectory: string | undefined) {
  if (dataDirectory === undefined) return undefined;
  for (const deadlineMs = performance.now() + startTimeoutS * 1000; ;) {
    const file = readRegular(join(dataDirectory, 'postmaster.pid'));
    const lines = (await unlessMissing(file))?.split('\n') ?? [];
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    if (!(await isServer(pid, dataDirectory))) return undefined;
    if (lines[7]?.trim() === 'ready') {
      return { url: await urlOf(dataDirectory, port), pid, port, dataDirectory };
    }
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `Postgres, process ${pid}, has not been ready for ${startTimeoutS} s`,
      );
    }
    await sleep(pollMs);
  }
}

/** Whether the process serves that data: after a restart its number may be another's. */
async function isServer(pid: number, dataDirectory: string): Promise<boolean> {
  try {
    const command =
      process.platform === 'linux'
        ? (await files.readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
        : (await promisify(execFile)('/bin/ps', ['-o', 'command=', '-p', String(pid)])).stdout;
    return command.includes(`postgres -D ${dataDirectory} -c`);
  } catch {
    // No such process: ps exits with 1, /proc has no file.
    return false;
  }
}

/** Starts a server and waits until it accepts connections. Call under the lock. */
async function launch(directory: string, settings: Means['settings']): Promise<Server> {
  const account = await accountFor(join(directory, 'data'));
  const means = { programs: await providePrograms(account, directory), account, settings };
  const dataDirectory = (await findData(directory)) ?? (await createData(directory, means));
  await disownPid(dataDirectory);
  // It holds the arguments of the last start.
  const last = unlessMissing(readRegular(join(dataDirectory, 'postmaster.opts')));
  let port = /"port=(\d+)"/u.exec((await last) ?? '')?.[1];
  for (const deadlineMs = performance.now() + retryTimeoutMs; ;) {
    // Without a free one of the last start, a random dynamic port.
    const given = { ...settings, port: port ?? String(randomInt(49_152, 65_536)) };
    const failure = await tryStart(dataDirectory, { ...means, settings: given });
    if (failure === null) break;
    const isTaken = failure.message.includes('Address already in use');
    // Busy processes of a killed server end when they notice.
    const isLeaving = failure.message.includes('pre-existing shared memory block');
    if (!(isTaken || isLeaving) || performance.now() > deadlineMs) throw failure;
    if (isTaken) port = undefined;
    else await sleep(retryPollMs);
  }
  const server = await findServer(dataDirectory);
  if (server !== undefined) return server;
  throw new EmbeddedPostgresError(`Postgres stopped at once: see ${logFileOf(dataDirectory)}`);
}

/**
 * Postgres does not start while the process in `postmaster.pid` lives, even if it is another program. It ignores our
 * pid, that of pg_ctl's parent, but still checks the old server's memory; without the file it would not.
 */
async function disownPid(dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, 'postmaster.pid');
  await using handle = await unlessMissing(openRegular(file, files.constants.O_RDWR));
  const found = await handle?.readFile('utf8');
  // The machine stopped during a write: the empty file names no memory, and Postgres refuses it.
  if (found?.trim() === '') await files.rm(file);
  else if (found !== undefined) {
    await handle?.truncate();
    await handle?.write(found.replace(/^\d+/u, String(process.pid)), 0);
  }
}

/** @returns null once the server is ready; otherwise an error that quotes its log */
async function tryStart(
  dataDirectory: string,
  { programs, account, settings }: Means,
): Promise<EmbeddedPostgresError | null> {
  // pg_ctl quotes paths for a shell.
  if (/["$`\\]/u.test(dataDirectory + programs)) {
    throw new EmbeddedPostgresError(
      `Postgres cannot run in ${dataDirectory}: rename folders with a quote, dollar sign or backslash`,
    );
  }
  // Only for programs of this machine.
  const all = { ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const options = Object.entries(all).map(([name, value]) => `-c '${name}=${value}'`);
  const log = logFileOf(dataDirectory);
  await using earlier = await unlessMissing(openRegular(log));
  const before = (await earlier?.stat())?.size;
  try {
    const flags = ['-s', '-t', String(startTimeoutS), '-D', dataDirectory, '-l', log];
    const args = ['start', ...flags, '-o', options.join(' ')];
    await run(join(programs, 'pg_ctl'), args, account, startTimeoutS * 1000 + graceMs);
    return null;
  } catch (cause) {
    const added = (await unlessMissing(readRegular(log, before))) ?? '';
    if (added === '') return new EmbeddedPostgresError('Postgres did not start', { cause });
    const tail = added.trimEnd().split('\n').slice(-quotedLines).join('\n');
    return new EmbeddedPostgresError(`Postgres did not start. ${log} ends with:\n${tail}\n`);
  }
}
