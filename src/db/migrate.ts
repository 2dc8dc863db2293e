import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as migrateWithDrizzle } from 'drizzle-orm/node-postgres/migrator';
import type { Pool } from 'pg';
import { z } from 'zod';
import { every } from '../time.ts';
import { packageFile, packageVersion } from '../package-file.ts';
import { withAdvisoryLock, type Waiting } from './lock.ts';
import { MigrationError, newerDatabase } from './failure.ts';
import { problemsOf } from './fitness.ts';
import { demandPrimary } from './state.ts';
import { execute, throughConflicts } from './transaction.ts';
import { makeViews, readMadeViews, readViewSet } from './views.ts';

const packagedFolder = packageFile('.');

/** One per database: "expletl" in ASCII. */
const migrationLock = { key: 0x65_78_70_6c_65_74_6cn, work: 'brings the schema up to date' };

/** How often a process checks for a newer schema. */
const pollIntervalMs = 10_000;

const bookkeeping = { migrationsSchema: 'etl', migrationsTable: 'migrations' };

const journalSchema = z.object({
  entries: z.array(z.object({ tag: z.string(), when: z.int() })).min(1),
});

/** Numbers of table migrations and of view files that were run. */
export interface Migrated {
  readonly applied: number;
  readonly views: number;
}

/**
 * Migrates tables, then all views and functions, of files and `texts`, if one of them or a table changed. Safe from any number of processes.
 * Only reads if nothing is to be done, so a role without rights suffices. The pool needs two connections: one holds
 * the lock. Waits silently for ever without `waiting`.
 * @throws MigrationError, StandbyError
 */
export async function migrate(
  pool: Pool,
  texts: readonly string[],
  folder: string = packagedFolder,
  waiting?: Waiting,
): Promise<Migrated> {
  await demandServer(pool);
  const bringUp = async () => {
    const before = await readSchema(pool, folder);
    const views = await readViewSet(join(folder, 'sql'), String(before.newest), texts);
    demandNotNewer(before);
    const isCurrent = before.missing.length === 0;
    if (isCurrent && before.views === views.hash) return { applied: 0, views: 0 };
    if (!isCurrent) await applyTables(pool, folder);
    const after = await readSchema(pool, folder);
    demandComplete(after.missing);
    await makeViews(pool, views, packageVersion(), waiting);
    return { applied: after.applied - before.applied, views: views.files.length };
  };
  // Workers of the older version hold rows of the tables that it locks.
  const work = () => throughConflicts(bringUp);
  return withAdvisoryLock(pool, migrationLock, work, waiting);
}

const applyTables = (pool: Pool, folder: string): Promise<void> =>
  migrateWithDrizzle(drizzle(pool), {
    migrationsFolder: join(folder, 'migrations'),
    ...bookkeeping,
  });

/**
 * Runs `work` until a newer version migrates the database, and then aborts its signal: two versions must not write.
 * @param intervalMs how often it looks
 * @throws MigrationError in that case, once the work has ended
 */
export async function whileCurrent<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  intervalMs = pollIntervalMs,
): Promise<T> {
  const outdated = new AbortController();
  const done = new AbortController();
  const poll = async () => demandNotNewer(await readSchema(pool));
  const ended = AbortSignal.any([done.signal, outdated.signal]);
  const watch = () =>
    every(intervalMs, ended, poll, (error) => {
      // An unreachable database is for the work to report.
      if (error instanceof MigrationError) outdated.abort(error);
    });
  // Who calls has just migrated.
  const pause = delay(intervalMs, undefined, { signal: ended }).catch(() => undefined);
  const watching = pause.then(watch);
  try {
    const result = await work(AbortSignal.any([signal, outdated.signal]));
    if (outdated.signal.aborted) throw outdated.signal.reason;
    return result;
  } finally {
    done.abort();
    await watching;
  }
}

/** A database's schema compared with that of the program in `folder`; only reads. */
export async function readSchema(pool: Pool, folder = packagedFolder) {
  const text = await readFile(join(folder, 'migrations/meta/_journal.json'), 'utf8');
  const { entries } = journalSchema.parse(JSON.parse(text));
  const newest = Math.max(...entries.map(({ when }) => when));
  const made = await readMadeViews(pool);
  const applied = await readApplied(pool, made !== null);
  return {
    of_program: entries.length,
    /** The `when` of this program's newest migration. */
    newest,
    applied: applied.size,
    /** This program's migrations that are not applied. */
    missing: entries.filter(({ when }) => !applied.has(when)).map(({ tag }) => tag),
    /** Migrations of a newer program; its views count as one. */
    ahead:
      [...applied].filter((when) => when > newest).length + (isNewerProgram(made?.program) ? 1 : 0),
    /** The hash of the files that made the views; null: none, or some are lost. */
    views: made?.lost.length === 0 ? made.hash : null,
    lost: made?.lost ?? [],
  };
}

/** @throws StandbyError, and MigrationError for a server, a database or settings with which it can't work */
export async function demandServer(pool: Pool): Promise<void> {
  await demandPrimary(pool);
  const [problem] = await problemsOf(pool, 'server');
  if (problem !== undefined) throw new MigrationError(problem);
}

/** The `when` of every applied migration. `isMade`: there are views, which come after the tables. */
async function readApplied(pool: Pool, isMade: boolean): Promise<ReadonlySet<number>> {
  const db = drizzle(pool);
  if (!isMade && !(await execute(db).has`select where to_regclass('etl.migrations') is not null`))
    return new Set();
  return new Set(await execute(db).values(z.number)`select created_at::float8 from etl.migrations`);
}

/** @throws MigrationError if the database is newer: this program must not write to it */
function demandNotNewer({ ahead }: { readonly ahead: number }): void {
  if (ahead > 0) throw new MigrationError(newerDatabase);
}

/** Whether views are of a later release. A pre-release counts as its release. */
function isNewerProgram(program: string | undefined): boolean {
  if (program === undefined) return false;
  const [theirs = '', ours = ''] = [program, packageVersion()].map((name) => name.split('-')[0]);
  return theirs.localeCompare(ours, 'en', { numeric: true }) > 0;
}

/** drizzle silently skips a migration dated before the newest applied one. */
function demandComplete(skipped: readonly string[]): void {
  if (skipped.length === 0) return;
  throw new MigrationError(
    `The database was migrated by another version of explorer-etl, whose migrations came after ` +
      `${skipped.join(', ')}: use that version, or a new database.`,
  );
}
