-- Tables of $1, with their columns, that are there without migrations or, if $2, are not there, or lack a column.
with tables as (
  select name, columns, to_regclass(name) as id
  from json_to_recordset($1::json) as t(name text, columns text[])
), found as (
  select 'tables ' || case when $2::bool then 'are missing' else 'exist without etl.migrations' end as what, name
  from tables
  where (id is null) = $2
  union all
  select 'columns are missing', name || '.' || column_name
  from tables, unnest(columns) as column_name
  where $2 and id is not null
    and not exists (select from pg_attribute where attrelid = id and attname = column_name and not attisdropped)
)
select format(
  '%s (%s%s), as after an incomplete restore: restore schemas explorer, etl and pgboss from one backup, or start over: '
    'drop schema if exists explorer, etl, pgboss cascade',
  what, min(name), case when count(*) > 1 then format(' and %s more', count(*) - 1) end
) as problem
from found
group by what;
