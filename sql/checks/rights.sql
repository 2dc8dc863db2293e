-- Why this role may not migrate the database or, if $1, work on a migrated one.
select problem
from pg_database
left join lateral (
  select pg_get_userbyid(nspowner) as owner, pg_has_role(nspowner, 'usage') as is_owner, array(
    select oid::regclass::text
    from pg_class
    where relnamespace in (pg_namespace.oid, to_regnamespace('explorer')) and relkind = 'r'
      and relname not in ('migrations', 'view_migrations')
      and not (has_schema_privilege(relnamespace, 'usage') and (
        select bool_and(has_table_privilege(pg_class.oid, name))
        from unnest('{select,insert,update,delete}'::text[]) as name
      ))
  ) as denied
  from pg_namespace
  where nspname = 'etl'
) as etl on true
cross join lateral (
  select case
    when $1::bool and denied <> '{}' then format(
      'role %I lacks privileges on %s tables, such as %s: run "explorer-etl migrate --roles" as %I, then '
        '"grant explorer_etl_worker to %1$I"',
      current_user, cardinality(denied), denied[1], owner
    )
    when not $1 and not is_owner then format(
      'role %I may not change what %I owns: run "explorer-etl migrate" as %2$I', current_user, owner
    )
    when not $1 and not has_database_privilege(datname, 'create') then format(
      'role %I may not create schemas: run "grant create on database %I to %1$I" as %3$I',
      current_user, datname, pg_get_userbyid(datdba)
    )
  end as problem
) as found
where datname = current_database() and problem is not null;
