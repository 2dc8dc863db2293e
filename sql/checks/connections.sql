-- What leaves no room for $1 connections.
select case
  when rolconnlimit between 0 and $1 then format('run "alter role %I connection limit %s"', rolname, 2 * $1)
  when datconnlimit between 0 and $1 then format('run "alter database %I connection limit %s"', datname, 2 * $1)
  else 'raise max_connections, which all clients share, from ' || current_setting('max_connections')
end as problem
from pg_roles, pg_database
where rolname = current_user and datname = current_database();
