-- A server, a database or settings with which the program cannot work.
-- Multiranges need 14, which ends in November 2026; 15 is the oldest release that is tested.
select format('Postgres 15 or newer is needed; this server is %s.', current_setting('server_version')) as problem
where current_setting('server_version_num')::int < 150000
union all
-- Not every role or server lets the program set them.
select format(
  '%s must have its default value: run "alter role %I in database %I set %1$s = %4$L".',
  name, current_user, current_database(), boot_val
)
from pg_settings
where case name
  when 'session_replication_role' then setting <> 'origin'
  when 'restrict_nonsystem_relation_kind' then setting <> ''
  -- In ms. Statements may take a minute.
  when 'transaction_timeout' then setting::int between 1 and 60000
end
union all
-- SQL_ASCII converts nothing, and is sent UTF-8.
select format(
  'The database has encoding %s, which lacks characters that explorers serve: use a new one, such as by '
    '"create database explorer encoding ''UTF8'' template template0".',
  getdatabaseencoding()
)
where getdatabaseencoding() not in ('UTF8', 'SQL_ASCII');
