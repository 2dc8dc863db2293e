create or replace function etl.change_time() returns timestamptz
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  change timestamptz := nullif(current_setting('explorer_etl.change_time', true), '')::timestamptz;
begin
  if change is null then
    -- The lock says "a time from now on". Only then is the clock read: who reads no such lock read it before.
    perform pg_advisory_xact_lock_shared(
      (1623::bigint << 52) | (extract(epoch from clock_timestamp()) * 1000000)::bigint
    );
    -- A clock that stepped back, or another server's after a failover, gives no time that readers have passed; nor do
    -- two transactions have one time.
    change := greatest(clock_timestamp(), (
      select until + interval '1 microsecond' * (pg_current_xact_id()::text::bigint % 1000000)
      from etl.change_bound where until >= clock_timestamp()
    ));
    perform set_config('explorer_etl.change_time', change::text, true);
  end if;
  return change;
end
$$;

create or replace function etl.publish_changes(announces boolean) returns timestamptz
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Read before the locks.
  bound timestamptz := clock_timestamp();
begin
  select least(bound, min(
    'epoch'::timestamptz + interval '1 microsecond'
    * (((classid::bigint << 32) | objid::bigint) & ((1::bigint << 52) - 1))
  ))
  into bound
  from pg_locks
  where locktype = 'advisory' and objsubid = 1 and mode = 'ShareLock' and classid::bigint >> 20 = 1623
    and database = (select oid from pg_database where datname = current_database());
  -- What a reader has seen below the bound, no crash takes back.
  perform set_config('synchronous_commit', 'on', true);
  insert into etl.change_bound as t (until) values (bound)
  on conflict (is_only) do update set until = greatest(t.until, excluded.until)
  returning until into bound;
  if announces then
    perform pg_notify('explorer_changes', to_json(bound) #>> '{}');
  end if;
  return bound;
end
$$;

comment on function etl.change_time is 'The updated_at of all rows that a transaction writes. Its first call takes a shared advisory lock, whose key has a time no later, so that etl.publish_changes sees the transaction until it has ended.';
comment on function etl.publish_changes is 'Moves the bound of explorer.changes_until() to the earliest time of a transaction that has not ended, or to now; if it announces, it notifies the channel explorer_changes. In a transaction of its own.';
