import type { Pool, PoolClient } from 'pg';

/** The group roles, without a login: granted to those who log in. The same names on every server. */
export const roles = {
  /** Owns schemas and tables, and so may migrate them. */
  owner: 'explorer_etl_owner',
  /** Does all that `sync` and `start` do, and changes no table's shape. */
  worker: 'explorer_etl_worker',
  /** Reads schema `explorer`, but for what belongs to the key's owner. */
  analyst: 'explorer_etl_analyst',
} as const;

/** `pgboss` is the queue's. */
const schemas = ['explorer', 'etl', 'pgboss'];

/** Names that the key's owner gave to addresses: nobody else's to read. */
const ownersTables = {
  labels: 'explorer.address_labels',
  names: 'explorer.address_watchlist_names',
};

/**
 * Makes the roles, if they are not there, and gives them their rights on this database: again and
 * again with the same result. Tables that a later version adds get theirs when this is run after its
 * migrations.
 *
 * @throws what Postgres throws where the role that connects may not create or grant roles
 */
export async function grantRoles(pool: Pool): Promise<void> {
  const session = await pool.connect();
  let isFailed = true;
  try {
    await session.query('begin');
    for (const name of Object.values(roles)) await session.query(createRole(name));
    await giveToOwner(session);
    await grantWorker(session);
    await grantAnalyst(session);
    await session.query('commit');
    isFailed = false;
  } finally {
    // Closing the session rolls back whatever it was in the middle of.
    session.release(isFailed);
  }
}

/** Whether the roles have rights on this database, so that new tables must give them theirs. */
export async function areRolesGranted(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ granted: boolean }>(
    `select coalesce(bool_or(has_schema_privilege(oid, 'etl', 'usage')), false) as granted
     from pg_roles where rolname = $1`,
    [roles.worker],
  );
  return rows[0]?.granted ?? false;
}

/** Roles belong to the server, so another database's program may be making them now. */
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

/** Whoever gives something away must be a member of the role that it goes to. */
async function giveToOwner(session: PoolClient): Promise<void> {
  const { owner } = roles;
  await session.query(`
    do $$
    begin
      if not pg_has_role(current_user, '${owner}', 'member') then
        execute format('grant ${owner} to %I', current_user);
      end if;
      execute format('grant create, connect, temporary on database %I to ${owner}', current_database());
    end
    $$
  `);
  const { rows } = await session.query<{ statement: string }>(ownershipStatements, [
    schemas,
    owner,
  ]);
  for (const { statement } of rows) await session.query(statement);
}

/** A statement for each thing in the schemas that another role owns. */
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

async function grantWorker(session: PoolClient): Promise<void> {
  const { worker } = roles;
  const all = schemas.join(', ');
  await session.query(`
    do $$
    begin
      execute format('grant connect on database %I to ${worker}', current_database());
    end
    $$;
    grant usage on schema ${all} to ${worker};
    grant select, insert, update, delete on all tables in schema ${all} to ${worker};
    grant usage, select, update on all sequences in schema ${all} to ${worker};
    grant execute on all routines in schema ${all} to ${worker};
    -- Which version the tables and views have is the owner's to say.
    revoke insert, update, delete on etl.migrations, etl.view_migrations from ${worker};
    -- In that row the queue's housekeepers take turns, too.
    revoke insert, delete on pgboss.version from ${worker}
  `);
}

async function grantAnalyst(session: PoolClient): Promise<void> {
  const { analyst, worker } = roles;
  const { labels, names } = ownersTables;
  await session.query(`
    do $$
    begin
      execute format('grant connect on database %I to ${analyst}', current_database());
    end
    $$;
    grant usage on schema explorer to ${analyst};
    grant select on all tables in schema explorer to ${analyst};
    revoke all on ${names} from ${analyst};
    alter table ${labels} enable row level security;
    drop policy if exists worker_all on ${labels};
    create policy worker_all on ${labels} to ${worker} using (true) with check (true);
    drop policy if exists analyst_public on ${labels};
    create policy analyst_public on ${labels} for select to ${analyst} using (kind = 'public')
  `);
}
