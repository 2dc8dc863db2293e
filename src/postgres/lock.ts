import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './failure.ts';

/** Longer than the slowest start we wait for (recovery), so a waiter does not give up before it. */
const waitMs = 400_000;
/** A start takes about a second; a waiter should notice its end without burning a core. */
const pollMs = 25;
/** SQLITE_BUSY, https://www.sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * Runs `work` while no other process runs its own with the same `file`. The lock is a transaction
 * on an empty SQLite file: the only lock in Node's library that the kernel drops when its holder
 * dies. A file with a process id in it needs a guess about who is dead, and two processes that
 * guess at once both win.
 *
 * @throws EmbeddedPostgresError when the lock stays taken, or the file cannot be made.
 */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = await take(file, performance.now() + waitMs);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function take(file: string, deadlineMs: number): Promise<DatabaseSync> {
  for (;;) {
    const lock = tryTake(file);
    if (lock !== undefined) return lock;
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(`Another process has held ${file} for ${waitMs / 1000} s`);
    }
    await sleep(pollMs);
  }
}

function tryTake(file: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined;
    throw new EmbeddedPostgresError(`Cannot lock ${file} (is its directory another user's?)`, {
      cause: error,
    });
  }
}
