import type { Pool, PoolClient } from 'pg';
import { inTransaction, rowsOf } from './transaction.ts';
import { z } from 'zod';

/** Group roles without a login, the same on every server. */
export const roles = {
  /** Owns schemas and tables, so it may migrate. */
  owner: 'explorer_etl_owner',
  /** Runs `sync` and `start`; changes no table's shape. */
  worker: 'explorer_etl_worker',
  /** Reads schema `explorer`, except what belongs to the key's owner. */
  analyst: 'explorer_etl_analyst',
} as const;

/** `pgboss` is the queue's. */
const schemas = ['explorer', 'etl', 'pgboss'];

/** Creates missing roles and grants their rights on this database. Repeat after migrations. */
export async function grantRoles(pool: Pool): Promise<void> {
  await inTransaction(pool, async (session) => {
    for (const name of Object.values(roles)) await session.query(createRole(name));
    await giveToOwner(session);
    await session.query(grants);
  });
}

/** Whether the roles have rights here, so that new tables need grants. */
export async function areRolesGranted(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select from pg_roles where rolname = $1 and has_schema_privilege(oid, 'etl', 'usage')`,
    [roles.worker],
  );
  return rows.length > 0;
}

/** Roles belong to the server: another database's program may be creating them now. */
const createRole = (name: string) => `
  do $$
  begin
    if not exists (select from pg_roles where rolname = '${name}') then
      create role ${name} nologin;
    end if;
  exception when duplicate_object or unique_violation then
    null;
  end
  $$
`;

/** Only who has a role's rights may give it objects: from Postgres 16 on, its creator is a member without them. */
async function giveToOwner(session: PoolClient): Promise<void> {
  const { owner } = roles;
  await session.query(`
    do $$
    begin
      if not pg_has_role(current_user, '${owner}', 'usage') then
        execute format('grant ${owner} to %I', current_user);
      end if;
      execute format('grant create, connect, temporary on database %I to ${owner}', current_database());
    end
    $$
  `);
  const rows = await rowsOf(
    session,
    () => z.object({ statement: z.string() }),
    ownershipStatements,
    [schemas, owner],
  );
  for (const { statement } of rows) await session.query(statement);
}

const ownershipStatements = `
  with schema as (
    select oid, nspowner from pg_namespace where nspname = any($1)
  ), owner as (
    select oid from pg_roles where rolname = $2
  )
  select format('alter schema %I owner to %I', schema.oid::regnamespace, $2) as statement
  from schema, owner where nspowner <> owner.oid
  union all
  select format('alter %s %s owner to %I',
           case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end,
           pg_class.oid::regclass, $2)
  from pg_class
  join schema on schema.oid = relnamespace, owner
  where relkind in ('r', 'p', 'v', 'S') and relowner <> owner.oid
    -- A sequence of a column goes with its table.
    and not exists (
      select from pg_depend where objid = pg_class.oid and deptype in ('a', 'i') and relkind = 'S'
    )
  union all
  select format('alter routine %s owner to %I', pg_proc.oid::regprocedure, $2)
  from pg_proc join schema on schema.oid = pronamespace, owner
  where proowner <> owner.oid
  union all
  select format('alter type %s owner to %I', format_type(pg_type.oid, null), $2)
  from pg_type join schema on schema.oid = typnamespace, owner
  where typtype = 'e' and typowner <> owner.oid
`;

/** Analysts do not see the key owner's labels and names of addresses. */
const grants = `
  do $$
  begin
    execute format('grant connect on database %I to ${roles.worker}, ${roles.analyst}', current_database());
  end
  $$;
  grant usage on schema ${schemas.join()} to ${roles.worker};
  grant select, insert, update, delete on all tables in schema ${schemas.join()} to ${roles.worker};
  grant usage, select, update on all sequences in schema ${schemas.join()} to ${roles.worker};
  grant execute on all routines in schema ${schemas.join()} to ${roles.worker};
  -- Which version the tables and views have is the owner's to say.
  revoke insert, update, delete on etl.migrations, etl.view_migrations from ${roles.worker};

  grant usage on schema explorer to ${roles.analyst};
  grant select on all tables in schema explorer to ${roles.analyst};
  revoke all on explorer.address_watchlist_names from ${roles.analyst};
  alter table explorer.address_labels enable row level security;
  drop policy if exists worker_all on explorer.address_labels;
  create policy worker_all on explorer.address_labels to ${roles.worker} using (true) with check (true);
  drop policy if exists analyst_public on explorer.address_labels;
  create policy analyst_public on explorer.address_labels
    for select to ${roles.analyst} using (kind = 'public')
`;
