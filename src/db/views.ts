import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { DatabaseError, Pool, PoolClient } from 'pg';
import { codeOfFailure, isRetryable, MigrationError } from './failure.ts';
import type { Waiting } from './lock.ts';
import { isPrepared } from './state.ts';
import { execute, inTransaction, limitLockWait, rowsOf } from './transaction.ts';
import { z } from 'zod';

/** A repeatable file of sql/, or a text like one. */
interface SqlFile {
  readonly name: string;
  readonly text: string;
  /** Such as `view explorer.coverage`, `trigger note_reorg on explorer.blocks`. */
  readonly objects: readonly string[];
}

type ViewSet = Awaited<ReturnType<typeof readViewSet>>;

/** Readers of the view queue behind the wait. */
const lockWaitMs = 2_000;
/** Lets those readers continue. */
const pauseMs = 1_000;
const mostAttempts = 30;

/** `create or replace` refused: other columns, another result type, or two functions of a name. */
const isIncompatible = (error: unknown) =>
  ['42P16', '42P13', '42725'].includes(codeOfFailure(error) ?? '');

/**
 * All files below a folder, but for statements of `check`, and the given texts, ordered by dependency. `tables`
 * identifies the tables that views read, as part of the set's hash.
 */
export async function readViewSet(folder: string, tables: string, texts: readonly string[]) {
  const names = await readdir(folder, { recursive: true });
  const read = await Promise.all(
    names
      .filter((name) => name.endsWith('.sql') && !name.startsWith('checks'))
      .toSorted()
      .map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
  );
  const files = [...read, ...texts.map((text) => ({ name: 'lists', text }))].map((file) => ({
    ...file,
    objects: objectsOf(file.text),
  }));
  const hash = createHash('sha256')
    .update(JSON.stringify([tables, files]))
    .digest('hex');
  return { files: byDependency(files), hash };
}

/** What `migrate` noted, and the views and functions that were dropped since; null if the database has none. */
export async function readMadeViews(pool: Pool) {
  if (!(await isPrepared(pool))) return null;
  const rows = await rowsOf(
    pool,
    () => z.object({ program: z.string(), hash: z.string(), lost: z.array(z.string()) }),
    `select program, hash, array(
       select object from unnest(objects) as object where object not like 'trigger %'
       except select object from (${viewsAndFunctions}) as made order by object
     ) as lost
     from etl.view_migrations`,
  );
  return rows[0] ?? null;
}

/**
 * Runs every file in one transaction. Views and functions are replaced or, if Postgres refuses that, recreated with
 * their rights; those in no file are dropped.
 * @throws MigrationError if others depend on what is dropped, or hold a lock too long
 */
export async function makeViews(
  pool: Pool,
  set: ViewSet,
  program: string,
  waiting?: Waiting,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    waiting?.signal.throwIfAborted();
    try {
      return await inTransaction(pool, (session) => makeOnce(session, set, program));
    } catch (error) {
      if (codeOfFailure(error) !== '55P03' && !isRetryable(error)) throw error;
      if (attempt === mostAttempts) {
        throw new MigrationError(
          'Another session has used a view of explorer-etl, or written to its table, for longer than a minute: a long query, or a backup. The views were not changed; run the command again.',
          { cause: error },
        );
      }
      if (attempt === 1) {
        waiting?.report('Waiting for a session that uses a view which is to be replaced.');
      }
      await delay(pauseMs);
    }
  }
}

async function makeOnce(
  session: PoolClient,
  { files: all, hash }: ViewSet,
  program: string,
): Promise<void> {
  await limitLockWait(session, lockWaitMs);
  const files = await withoutRefused(session, all);
  await session.query(record);
  const made = await execute(drizzle(session)).value(() => z.array(z.string()))`
    select objects from etl.view_migrations
  `;
  const had = made ?? [];
  const objects = files.flatMap((file) => file.objects);
  await session.query('savepoint unchanged');
  if (await replace(session, files)) {
    const gone = had.filter((object) => !objects.includes(object));
    await drop(session, gone);
  } else {
    await session.query('rollback to savepoint unchanged');
    const rights = await rowsOf(
      session,
      () => z.object({ object: z.string(), statement: z.string() }),
      rightsOn,
      [had],
    );
    await drop(session, had);
    await makeAgain(session, files);
    for (const { object, statement } of rights) {
      if (objects.includes(object)) await session.query(statement);
    }
  }
  await session.query(
    `insert into etl.view_migrations (program, hash, objects) values ($1, $2, $3)
     on conflict (is_only) do update
     set program = excluded.program, hash = excluded.hash, objects = excluded.objects`,
    [program, hash, objects],
  );
}

/** The files without triggers on tables that Citus distributes, which it refuses. */
async function withoutRefused(session: PoolClient, files: readonly SqlFile[]): Promise<SqlFile[]> {
  const { rows: citus } = await session.query(
    `select where to_regclass('pg_dist_partition') is not null`,
  );
  if (citus.length === 0) return [...files];
  const rows = await rowsOf(
    session,
    () => z.object({ name: z.string() }),
    `select logicalrelid::text as name from pg_dist_partition where partmethod = 'h'`,
  );
  const spread = new Set(rows.map(({ name }) => name));
  return files.map((file) => ({
    ...file,
    text: file.text.replaceAll(triggerStatement, (statement, table: string) =>
      spread.has(table) ? '' : statement,
    ),
  }));
}

const triggerStatement = /^create or replace trigger \w+\s[^;]*?\son ([\w.]+)\s[^;]*;/gmu;

/** @returns whether Postgres could; a function with other parameters would be a second one */
async function replace(session: PoolClient, files: readonly SqlFile[]): Promise<boolean> {
  try {
    // In one message: there are as many files as round trips otherwise.
    await session.query(files.map(({ text }) => text).join('\n'));
  } catch (error) {
    if (isIncompatible(error)) return false;
    throw error;
  }
  const { rows } = await session.query(
    `select from pg_proc where pronamespace::regnamespace::text in ('explorer', 'etl')
     group by pronamespace, proname having count(*) > 1`,
  );
  return rows.length === 0;
}

async function makeAgain(session: PoolClient, files: readonly SqlFile[]): Promise<void> {
  for (const { text, objects } of files) {
    await session.query(text).catch((error: unknown) => {
      if (!isIncompatible(error)) throw error;
      throw mustDropFirst(`another ${objects.join(', ')} is there`, error);
    });
  }
}

/** Drops objects, last first. Postgres refuses if others depend on them. */
async function drop(session: PoolClient, objects: readonly string[]): Promise<void> {
  for (const object of objects.toReversed()) {
    await session.query(`drop ${object.replace(' ', ' if exists ')}`).catch((error: unknown) => {
      // Others depend on it, or have created a function of its name.
      if (!['2BP01', '42725'].includes(codeOfFailure(error) ?? '')) throw error;
      const { detail, message } = error as DatabaseError;
      throw mustDropFirst(detail ?? message, error);
    });
  }
}

const mustDropFirst = (why: string, cause: unknown) =>
  new MigrationError(
    `the views can't be changed because ${why}: drop it, migrate, and create it again. Nothing was changed.`,
    { cause, command: 'explorer-etl migrate' },
  );

const record = `
  create table if not exists etl.view_migrations (
    is_only boolean primary key default true check (is_only),
    program text not null,
    hash text not null,
    objects text[] not null
  )`;

const viewsAndFunctions = `
  select format('view %s.%I', relnamespace::regnamespace, relname) as object, relowner as owner, relacl as rights
  from pg_class where relkind = 'v'
  union all
  select format('function %s.%I', pronamespace::regnamespace, proname), proowner, proacl from pg_proc`;

/** Statements that restore an object's owner and grants. */
const rightsOn = `
  with made as (${viewsAndFunctions})
  select object, format(
    'grant %s on %s to %s%s', privilege_type, regexp_replace(object, '^view ', ''),
    case grantee when 0 then 'public' else grantee::regrole::text end,
    case when is_grantable then ' with grant option' else '' end
  ) as statement
  from made, aclexplode(rights)
  where object = any($1) and grantee <> owner
  union all
  select object, format('alter %s owner to %s', object, owner::regrole)
  from made
  where object = any($1) and owner <> current_user::regrole`;

function objectsOf(text: string): string[] {
  const made = text.matchAll(
    /^create or replace (?:(?<kind>view|function) (?<name>[\w.]+)|(?<trigger>trigger \w+)\s[^;]*?\s(?<on>on [\w.]+))/gmu,
  );
  return [...made].map(({ groups = {} }) =>
    groups['kind'] === undefined
      ? `${groups['trigger']} ${groups['on']}`
      : `${groups['kind']} ${groups['name']}`,
  );
}

/** Each file after those whose objects its statements name; comments do not count. */
function byDependency(files: readonly SqlFile[]): SqlFile[] {
  const makerOf = new Map(
    files.flatMap((file) => file.objects.map((object) => [object.replace(/^\w+ /u, ''), file])),
  );
  const ordered = new Set<SqlFile>();
  const visit = (maker: SqlFile, path: readonly SqlFile[]): void => {
    if (ordered.has(maker) || path.at(-1) === maker) return;
    if (path.includes(maker)) {
      const circle = [...path, maker].map(({ name }) => name);
      throw new Error(`files of sql/ name each other in a circle: ${circle.join(', ')}`);
    }
    const statements = maker.text.replaceAll(/^comment on .*$|--.*$/gmu, '');
    for (const [name] of statements.matchAll(/\b(?:explorer|etl)\.\w+/gu)) {
      const other = makerOf.get(name);
      if (other !== undefined) visit(other, [...path, maker]);
    }
    ordered.add(maker);
  };
  for (const file of files) visit(file, []);
  return [...ordered];
}
