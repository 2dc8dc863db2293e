import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { codeOfFailure, isRetryable } from './failure.ts';
import type { Waiting } from './lock.ts';
import { MigrationError } from './migration-error.ts';
import { inTransaction } from './session.ts';

/** A file of sql/: statements that can be run again. */
interface SqlFile {
  readonly name: string;
  readonly text: string;
}

/** A file with what it makes. */
interface Maker extends SqlFile {
  /** Such as `view explorer.coverage`, `function etl.incarnation`, `trigger note_reorg on explorer.blocks`. */
  readonly objects: readonly string[];
}

/** All files of sql/. */
export interface ViewSet {
  readonly files: readonly SqlFile[];
  readonly hash: string;
}

/** Which set a database has. */
export interface MadeViews {
  /** Version of the program that made it. */
  readonly program: string;
  readonly hash: string;
  readonly objects: readonly string[];
}

/**
 * How long a statement waits for a lock, in ms, unless the URL or the role has a lock_timeout of its own:
 * whoever else wants to read the view waits behind it as long.
 */
const lockWaitMs = 2_000;
/** Between two attempts, in ms: those who waited behind read meanwhile. */
const pauseMs = 1_000;
const mostAttempts = 30;

/** What Postgres says where `create or replace` can't: other columns, or another type of result. */
const incompatible: ReadonlySet<string | null> = new Set(['42P16', '42P13']);

/**
 * @param folder the one that holds `views` and `comments`
 * @param tables what the views are made on: with other tables, the same files make another set
 */
export async function readViewSet(folder: string, tables: string): Promise<ViewSet> {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.sql'))
      .toSorted()
      .map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
  );
  const hash = createHash('sha256')
    .update(JSON.stringify([tables, files]))
    .digest('hex');
  return { files, hash };
}

/** @returns null where the database has none */
export async function readMadeViews(pool: Pool): Promise<MadeViews | null> {
  const { rows: found } = await pool.query<{ exists: boolean }>(
    `select to_regclass('etl.view_migrations') is not null as exists`,
  );
  if (found[0]?.exists !== true) return null;
  const { rows } = await pool.query<MadeViews>(
    'select program, hash, objects from etl.view_migrations',
  );
  return rows[0] ?? null;
}

/**
 * Runs every file in one transaction: a view or function that has changed is replaced, one that is in no
 * file any more is dropped. Rights on them stay, and so do views of others that read them.
 *
 * @throws MigrationError where something of others would be lost, or somebody holds a lock for too long;
 *   nothing is changed then
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
          'Somebody has used a view of explorer-etl, or written to its table, for longer than a minute: a long query, or a backup. The views were not changed; run the command again.',
          { cause: error },
        );
      }
      if (attempt === 1) {
        waiting?.tell('Waiting for a session that uses a view which is to be replaced.');
      }
      await delay(pauseMs);
    }
  }
}

async function makeOnce(session: PoolClient, set: ViewSet, program: string): Promise<void> {
  await session.query(
    `select set_config('lock_timeout', '${lockWaitMs}', true) where current_setting('lock_timeout') = '0'`,
  );
  await session.query(record);
  const { rows } = await session.query<Pick<MadeViews, 'objects'>>(
    'select objects from etl.view_migrations',
  );
  const had = rows[0]?.objects ?? [];
  const files = inOrder(set.files);
  const objects = files.flatMap((file) => file.objects);
  const rights: Right[] = [];
  for (const file of files) {
    await session.query('savepoint before_file');
    if (await replace(session, file)) continue;
    await session.query('rollback to savepoint before_file');
    rights.push(...(await drop(session, file.objects, had)));
    await session.query(file.text);
  }
  const gone = had.filter((object) => !objects.includes(object));
  for (const object of gone) await drop(session, [object], gone);
  for (const { object, statement } of rights) {
    if (objects.includes(object)) await session.query(statement);
  }
  await session.query(
    `insert into etl.view_migrations (program, hash, objects) values ($1, $2, $3)
     on conflict (is_only) do update
     set program = excluded.program, hash = excluded.hash, objects = excluded.objects`,
    [program, set.hash, objects],
  );
}

/** @returns whether Postgres could; a function with other parameters would stand beside the one before */
async function replace(session: PoolClient, { text, objects }: Maker): Promise<boolean> {
  try {
    await session.query(text);
  } catch (error) {
    if (incompatible.has(codeOfFailure(error))) return false;
    throw error;
  }
  const { rows } = await session.query(`select from (${existing}) as it where object = any($1)`, [
    objects,
  ]);
  return rows.length <= objects.length;
}

/** A statement that gives an object back what was granted on it. */
interface Right {
  readonly object: string;
  readonly statement: string;
}

/**
 * Drops objects with all that is built on them.
 *
 * @param ours what may go with them
 * @returns the rights on what was dropped
 * @throws MigrationError where something else would go
 */
async function drop(
  session: PoolClient,
  objects: readonly string[],
  ours: readonly string[],
): Promise<Right[]> {
  const { rows: dropped } = await session.query<{ object: string; full_name: string }>(dependents, [
    objects,
  ]);
  const foreign = dropped.filter(({ object }) => !ours.includes(object));
  if (foreign.length > 0) {
    const names = foreign.map(({ full_name }) => full_name).join(', ');
    throw new MigrationError(
      `${objects.join(', ')} can't be changed while there is ${names}: drop it first, run "explorer-etl migrate", and make it again afterwards. Nothing was changed.`,
    );
  }
  const names = dropped.map(({ full_name }) => full_name);
  const { rows: rights } = await session.query<Right>(rightsOn, [names]);
  for (const name of names) await session.query(`drop ${name.replace(' ', ' if exists ')} cascade`);
  return rights;
}

const record = `
  create table if not exists etl.view_migrations (
    is_only boolean primary key default true check (is_only),
    program text not null,
    hash text not null,
    objects text[] not null
  )`;

/** Views, functions and triggers of our schemas; a function's full name has the types of its parameters. */
const existing = `
  select classid, objid, type || ' ' || identity as full_name,
         type || ' ' || split_part(identity, '(', 1) as object, owner, rights
  from (
    select tableoid as classid, oid as objid, relowner as owner, relacl as rights
    from pg_class
    where relkind = 'v' and relnamespace::regnamespace::text in ('explorer', 'etl')
    union all
    select tableoid, oid, proowner, proacl from pg_proc
    where pronamespace::regnamespace::text in ('explorer', 'etl')
    union all
    select pg_trigger.tableoid, pg_trigger.oid, null, null
    from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace::regnamespace::text in ('explorer', 'etl')
  ) as found, pg_identify_object(classid, objid, 0)`;

/** Objects that exist, and all that depends on them, near or far. */
const dependents = `
  with recursive gone as (
    select classid, objid from (${existing}) as it where object = any($1)
    union
    -- The rule of a view is the view.
    select case when ev_class is null then pg_depend.classid else 'pg_class'::regclass end,
           coalesce(ev_class, pg_depend.objid)
    from gone
    join pg_depend on refclassid = gone.classid and refobjid = gone.objid
    left join pg_rewrite
      on pg_depend.classid = 'pg_rewrite'::regclass and pg_rewrite.oid = pg_depend.objid
    -- What is a part of something, as its indexes are, goes with it unnamed.
    where deptype = 'n' or pg_depend.classid in ('pg_type'::regclass, 'pg_trigger'::regclass)
  )
  select type || ' ' || split_part(identity, '(', 1) as object, type || ' ' || identity as full_name
  from gone, pg_identify_object(classid, objid, 0)
  -- The type of a view's rows goes with it.
  where classid <> 'pg_type'::regclass
  order by 2`;

const rightsOn = `
  select object, format(
    'grant %s on %s to %s%s', privilege_type, regexp_replace(object, '^view ', ''),
    case grantee when 0 then 'public' else grantee::regrole::text end,
    case when is_grantable then ' with grant option' else '' end
  ) as statement
  from (${existing}) as it, aclexplode(rights)
  where full_name = any($1) and grantee <> owner
  union all
  select object, format('alter %s owner to %s', object, owner::regrole)
  from (${existing}) as it
  where full_name = any($1) and owner <> current_user::regrole`;

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

/** Each file after those whose views and functions its statements name; comments make no order. */
function inOrder(files: readonly SqlFile[]): Maker[] {
  const makers = files.map((file) => ({ ...file, objects: objectsOf(file.text) }));
  const makerOf = new Map(
    makers.flatMap((maker) => maker.objects.map((object) => [object.replace(/^\w+ /u, ''), maker])),
  );
  const ordered = new Set<Maker>();
  const visit = (maker: Maker, path: readonly Maker[]): void => {
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
  for (const maker of makers) visit(maker, []);
  return [...ordered];
}
