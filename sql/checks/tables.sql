-- Tables, of the names in $1, that are there without migrations or, if $2, are not there.
select format(
  'tables %s (%s%s), as after an incomplete restore: restore schemas explorer, etl and pgboss from one backup, or start over: '
    'drop schema if exists explorer, etl, pgboss cascade',
  case when $2::bool then 'are missing' else 'exist without etl.migrations' end,
  min(name),
  case when count(*) > 1 then format(' and %s more', count(*) - 1) end
) as problem
from unnest($1::text[]) as name
where (to_regclass(name) is null) = $2
having count(*) > 0;
