import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unlessMissing } from './failure.ts';

/** The user a server process runs as; empty when that is the user we are. */
export type Account = { uid: number; gid: number } | Record<string, never>;

/** `nobody` on Linux. Postgres needs an account that is not root, and this one needs no creating. */
const nobody = 65534;

/** How long a program that only prints or checks something may take, in milliseconds. */
const askTimeoutMs = 10_000;

/**
 * The whole environment of what we launch. Ours holds the API key, which no other process needs,
 * and PG* variables, which the server would obey.
 */
export const launchEnvironment = { LC_ALL: 'C' };

/** True when we are root, which Postgres refuses to run as. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Who owns `dataDirectory`, and therefore must run its server. As root: the owner of data that
 * exists, so that an ordinary user's directory stays theirs; otherwise `nobody`.
 */
export async function accountFor(dataDirectory: string): Promise<Account> {
  if (!isRoot()) return {};
  const owner = await unlessMissing(stat(dataDirectory));
  return owner === undefined || owner.uid === 0
    ? { uid: nobody, gid: nobody }
    : { uid: owner.uid, gid: owner.gid };
}

/** Gives `path` to the account; nothing to do when that is ourselves. */
export async function give(path: string, account: Account): Promise<void> {
  if (account.uid !== undefined) await chown(path, account.uid, account.gid);
}

/** Runs a program as the account to its end. Rejects when it cannot run or exits with an error. */
export async function run(
  file: string,
  args: readonly string[],
  account: Account,
  timeoutMs: number = askTimeoutMs,
): Promise<void> {
  await promisify(execFile)(file, [...args], {
    ...account,
    // Where we stand may be closed to the account.
    cwd: '/',
    env: launchEnvironment,
    timeout: timeoutMs,
  });
}

/** True when the account can enter `directory`. Asked by trying, so every rule of the system counts. */
export async function mayEnter(directory: string, account: Account): Promise<boolean> {
  return succeeds(run('/bin/sh', ['-c', 'cd "$0"', directory], account));
}

/** True when a directory made inside `directory` can be given to the account, which can write there. */
export async function mayLiveIn(directory: string, account: Account): Promise<boolean> {
  const probe = await mkdtemp(join(directory, '.probe-'));
  try {
    await give(probe, account);
    return await mayEnterAndWrite(probe, account);
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

function mayEnterAndWrite(directory: string, account: Account): Promise<boolean> {
  return succeeds(run('/bin/sh', ['-c', 'cd "$0" && : > written', directory], account));
}

async function succeeds(attempt: Promise<void>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch {
    return false;
  }
}
