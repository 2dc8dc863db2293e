import type { PoolClient } from 'pg';
import { MigrationError } from './migrate.ts';
import { isEnforced } from './relations.ts';

/**
 * Puts a partitioned table in a table's place, and the table below it as the partition for all rows. No
 * row is read or moved. Call with the table locked against everybody.
 *
 * @param options.rest the name that the table gets
 * @throws MigrationError where something hangs on the table that would hang on the partition then
 */
export async function becomePartitioned(
  session: PoolClient,
  { name, rest }: { readonly name: string; readonly rest: string },
): Promise<void> {
  await demandAlone(session, name);
  // Spelled with the table's name, for the table that has it then.
  const [constraints, indexes] = [await keysOf(session, name), await indexesOf(session, name)];
  const [views, rights] = [await viewsOn(session, name), await rightsOn(session, name)];
  for (const index of await indexNames(session, name)) {
    await session.query(`alter index ${index.qualified} rename to "${index.name}_default"`);
  }
  await session.query(`alter table ${name} rename to ${rest.slice(rest.indexOf('.') + 1)}`);
  await session.query(
    `create table ${name} (
       like ${rest} including defaults including constraints including storage
         including compression including comments
     ) partition by list (chain_id)`,
  );
  for (const statement of [...constraints, ...indexes]) await session.query(statement);
  await session.query(`alter table ${name} attach partition ${rest} default`);
  for (const statement of [...rights, ...views]) await session.query(statement);
  await session.query(
    `comment on table ${rest} is 'Partition of ${name}: rows of chains that have none of their own.'`,
  );
}

/** Views are made again; what else refers to a table would not see another chain's rows any more. */
async function demandAlone(session: PoolClient, name: string): Promise<void> {
  const { rows } = await session.query<{ what: string }>(
    `select 'the materialized view ' || ev_class::regclass as what
     from pg_depend join pg_rewrite on pg_rewrite.oid = objid
     join pg_class on pg_class.oid = ev_class and relkind = 'm'
     where refobjid = $1::regclass and classid = 'pg_rewrite'::regclass
     union
     select 'the constraint ' || conname || ' of ' || conrelid::regclass
     from pg_constraint where confrelid = $1::regclass or (conrelid = $1::regclass and contype = 'f' and ${isEnforced})
     union
     select 'the trigger ' || tgname from pg_trigger where tgrelid = $1::regclass and not tgisinternal
     union
     select 'the policy ' || polname from pg_policy where polrelid = $1::regclass
     union
     select 'the publication ' || pubname
     from pg_publication_rel join pg_publication on pg_publication.oid = prpubid
     where prrelid = $1::regclass
     union
     select 'the table ' || inhrelid::regclass from pg_inherits where inhparent = $1::regclass
     order by 1`,
    [name],
  );
  if (rows.length === 0) return;
  throw new MigrationError(
    `${name} can't be partitioned while there is ${rows.map(({ what }) => what).join(', ')}: drop it first, and make it again afterwards.`,
  );
}

async function keysOf(session: PoolClient, name: string): Promise<string[]> {
  return statements(
    session,
    `select format('alter table %s add constraint %I %s', $1::text, conname, pg_get_constraintdef(oid)) as statement
     from pg_constraint
     where conrelid = $1::regclass and (contype in ('p', 'u') or contype = 'f' and not ${isEnforced})`,
    name,
  );
}

/** But for those of constraints. */
async function indexesOf(session: PoolClient, name: string): Promise<string[]> {
  return statements(
    session,
    `select pg_get_indexdef(indexrelid) as statement
     from pg_index
     where indrelid = $1::regclass
       and not exists (select from pg_constraint where conindid = indexrelid)`,
    name,
  );
}

async function indexNames(
  session: PoolClient,
  name: string,
): Promise<{ qualified: string; name: string }[]> {
  const { rows } = await session.query<{ qualified: string; name: string }>(
    `select indexrelid::regclass::text as qualified, relname as name
     from pg_index join pg_class on pg_class.oid = indexrelid
     where indrelid = $1::regclass`,
    [name],
  );
  return rows;
}

async function viewsOn(session: PoolClient, name: string): Promise<string[]> {
  return statements(
    session,
    `select format('create or replace view %s %s as %s', pg_class.oid::regclass,
              'with (' || array_to_string(reloptions, ', ') || ')', pg_get_viewdef(pg_class.oid)) as statement
     from pg_class
     where relkind = 'v' and oid in (
       select ev_class from pg_depend join pg_rewrite on pg_rewrite.oid = objid
       where refobjid = $1::regclass and classid = 'pg_rewrite'::regclass
     )`,
    name,
  );
}

/** Its comment, its owner, and who may do what with it. */
async function rightsOn(session: PoolClient, name: string): Promise<string[]> {
  return statements(
    session,
    `select format('comment on table %s is %L', $1::text, obj_description($1::regclass)) as statement
     union all
     select format('grant %s on %s to %s%s', privilege_type, $1::text,
              case when grantee = 0 then 'public' else grantee::regrole::text end,
              case when is_grantable then ' with grant option' else '' end)
     from pg_class, aclexplode(relacl)
     where oid = $1::regclass and grantee <> relowner
     union all
     select format('alter table %s owner to %s', $1::text, relowner::regrole)
     from pg_class where oid = $1::regclass and relowner <> current_user::regrole`,
    name,
  );
}

async function statements(session: PoolClient, query: string, name: string): Promise<string[]> {
  const { rows } = await session.query<{ statement: string }>(query, [name]);
  return rows.map(({ statement }) => statement);
}
