create or replace function etl.clock_text(moment timestamptz) returns text
language sql stable
return (
  select to_char(local, case when local::date = (now() at time zone 'UTC')::date then '' else 'YYYY-MM-DD ' end || 'HH24:MI') || ' UTC'
  from (select moment at time zone 'UTC' as local) as clock
);

create or replace view etl.outages as
select origin, failing_since as since, hosts.failure, hosts.reason, next_try_at, array_agg(feed) as feeds,
       'No answer from ' || substring(origin from '^[a-z]+://([^/]+)') || ' since '
         || etl.clock_text(failing_since) || ': ' || hosts.reason as sentence
from etl.hosts
join etl.feeds using (origin)
group by origin, hosts.origin;

comment on view etl.outages is 'The explorers that fail, with the feeds that are read from them, and the sentence of status and verify.';
comment on function etl.clock_text is 'A time of day, with the date unless it is today, as people read it.';
