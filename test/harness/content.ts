import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ClientBase, Pool } from 'pg';
import { from, to } from 'pg-copy-streams';
import { eventually } from './process.ts';

/** The rows of a database's tables, and where its sequences are. */
export interface Content {
  /** Of tables that have any, as COPY writes them. */
  readonly rows: ReadonlyMap<string, Buffer>;
  /** A statement that sets every sequence. */
  readonly sequences: string;
}

/** What must be as it was for a database to get other rows. */
export interface Schema {
  readonly tables: readonly Table[];
  /** Changes with every change of the schema, of comments, rights and settings. */
  readonly version: string;
}

interface Table {
  readonly name: string;
  readonly columns: string;
}

const tablesOf = `
select format('%I.%I', nspname, relname) as name, (
         select string_agg(quote_ident(attname), ', ' order by attnum)
         from pg_attribute
         where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
       ) as columns
from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where relkind = 'r' and relpersistence <> 't' and nspname not in ('pg_catalog', 'information_schema')
order by 1`;

/** Their rows are written by commands that `setContent` does not undo. */
const catalogs = [
  'pg_attrdef',
  'pg_attribute',
  'pg_class',
  'pg_constraint',
  'pg_default_acl',
  'pg_depend',
  'pg_description',
  'pg_event_trigger',
  'pg_extension',
  'pg_index',
  'pg_namespace',
  'pg_policy',
  'pg_proc',
  'pg_publication',
  'pg_rewrite',
  'pg_trigger',
  'pg_type',
];
const changesOf = (name: string) =>
  ['inserted', 'updated', 'deleted']
    .map((what) => `pg_stat_get_tuples_${what}('pg_catalog.${name}'::regclass)`)
    .join(' + ');
const versionOf = (table: string, where: string) =>
  `(select string_agg(xmin::text, ' ') from ${table} where ${where})`;
const ownDatabase = '(select oid from pg_database where datname = current_database())';
const versionOfSchema = `select concat_ws(',', ${[
  ...catalogs.map(changesOf),
  versionOf('pg_database', `oid = ${ownDatabase}`),
  versionOf('pg_db_role_setting', `setdatabase = ${ownDatabase}`),
].join(', ')})`;

const sequencesOf = `
select string_agg(
         format('setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
                coalesce(last_value, start_value), last_value is not null), ', '
       )
from pg_sequences`;

async function textOf(client: ClientBase, statement: string): Promise<string> {
  const { rows } = await client.query<{ text: string }>(`select * from (${statement}) as t (text)`);
  return rows[0]?.text ?? '';
}

/** Those of the tables that have rows. Citus copies what a subquery selects, so it selects a column. */
async function filledTables(client: ClientBase, tables: readonly Table[]): Promise<Table[]> {
  const each = tables.map(({ name }) => `exists (select 1 from ${name})`);
  const { rows } = await client.query<boolean[]>({
    text: `select ${each.join(', ')}`,
    rowMode: 'array',
  });
  return tables.filter((_, index) => rows[0]?.[index] === true);
}

export async function schemaOf(client: ClientBase): Promise<Schema> {
  const { rows: tables } = await client.query<Table>(tablesOf);
  return { tables, version: await textOf(client, versionOfSchema) };
}

/** Remembers what is in a database. */
export async function contentOf(client: ClientBase, { tables }: Schema): Promise<Content> {
  const rows = new Map<string, Buffer>();
  for (const { name, columns } of await filledTables(client, tables)) {
    const text = `copy (select ${columns} from ${name}) to stdout`;
    rows.set(name, await buffer(client.query(to(text))));
  }
  return { rows, sequences: `select ${await textOf(client, sequencesOf)}` };
}

/** Replaces what is in a database. To set the role of replication costs the session its plans. */
export async function setContent(
  client: ClientBase,
  { tables }: Schema,
  { rows, sequences }: Content,
): Promise<void> {
  const filled = await filledTables(client, tables);
  const emptying = filled.map(({ name }) => `delete from ${name};`).join('');
  // No trigger of ours or of a foreign key sees it.
  await client.query(`begin; set local session_replication_role = replica; ${emptying}`);
  for (const { name, columns } of tables) {
    const text = rows.get(name);
    if (text === undefined) continue;
    await pipeline([text], client.query(from(`copy ${name} (${columns}) from stdin`)));
  }
  await client.query(`${sequences}; commit`);
}

/** Ends what a test left in the sessions of a pool. @returns their process numbers */
async function clearSessions(pool: Pool): Promise<readonly number[]> {
  const sessions = Array.from({ length: pool.totalCount }, () => pool.connect());
  const clients = await Promise.all(sessions);
  const pids = clients.map(async (client) => {
    await client.query('rollback; reset all; unlisten *; close all; discard temp');
    const { rows } = await client.query<{ pid: number }>(
      'select pg_backend_pid() as pid, pg_advisory_unlock_all(), pg_stat_force_next_flush()',
    );
    client.release();
    return rows.map(({ pid }) => pid);
  });
  return (await Promise.all(pids)).flat();
}

/** What must have become of sessions that are not the pool's: the idle ones are those of engines. */
type Others = 'ended' | 'idle';

const otherSessions = `
from pg_stat_activity
where datname = current_database() and backend_type = 'client backend'
  and pid <> pg_backend_pid() and pid <> all($1::int[])`;
const untilThey: Readonly<Record<Others, string>> = {
  ended: `select pg_terminate_backend(pid) ${otherSessions}`,
  idle: `select ${otherSessions} and (
    state <> 'idle' or application_name not like 'explorer-etl%' or application_name like '% locks'
  )`,
};

/** A database whose sessions take longer to end is dropped with them. */
const boundMs = 5_000;

/**
 * Ends what a test left in a database but its rows.
 *
 * @param pool of the test
 * @param client a session that no test has
 * @returns whether the schema is the same
 * @throws if sessions do not end, or have been ended
 */
export async function clear(
  pool: Pool,
  client: ClientBase,
  { version }: Schema,
  others: Others,
): Promise<boolean> {
  if (pool.ended || pool.idleCount < pool.totalCount) return false;
  const own = await clearSessions(pool);
  await eventually(
    `other sessions to be ${others}`,
    async () => (await client.query(untilThey[others], [own])).rows.length === 0,
    { boundMs },
  );
  return (await textOf(client, versionOfSchema)) === version;
}
