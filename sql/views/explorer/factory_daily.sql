create or replace view explorer.factory_daily as
select daily.chain_id, daily.address_hash, coalesce(name, ens_domain_name) as name,
       day::date, total_accounts, case when day = from_day then new_accounts else 0 end as new_accounts
from (
  select history.chain_id, history.address_hash, history.total_accounts, from_day,
         -- Who is absent from an earlier ranking, which is whole, began at 0.
         history.total_accounts - lag(history.total_accounts, 1, case when from_day > begun_day then 0 end)
           over factory as new_accounts,
         -- The last one counts up to today, or until the factory left.
         coalesce(lead(from_day) over factory - 1, etl.utc_day(coalesce(missing_since, now()))) as to_day
  from (
    -- Of two on one day the later one counts.
    select distinct on (chain_id, address_hash, etl.utc_day(observed_at))
           chain_id, address_hash, etl.utc_day(observed_at) as from_day, total_accounts
    from explorer.factory_history
    order by chain_id, address_hash, etl.utc_day(observed_at), observed_at desc
  ) as history
  join explorer.factories using (chain_id, address_hash)
  join (
    select chain_id, etl.utc_day(min(observed_at)) as begun_day
    from explorer.factory_history
    group by chain_id
  ) as begun using (chain_id)
  window factory as (partition by history.chain_id, history.address_hash order by from_day)
) as daily
cross join lateral generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') as day
left join explorer.addresses
  on addresses.chain_id = daily.chain_id and addresses.hash = daily.address_hash;

comment on view explorer.factory_daily is 'Accounts of each wallet factory at the end of each UTC day, from the first day on which it was seen to today, or to the day on which it left the list. A day on which nothing was observed has the count of the day before.';
comment on column explorer.factory_daily.chain_id is 'Number of the chain.';
comment on column explorer.factory_daily.address_hash is 'The factory: explorer.addresses.hash.';
comment on column explorer.factory_daily.name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.factory_daily.day is 'The day, UTC.';
comment on column explorer.factory_daily.total_accounts is 'Accounts that it had created by then. Null: not reported.';
comment on column explorer.factory_daily.new_accounts is 'Accounts since the day before; on its first day all, if an earlier ranking lacks it. Null: the day of the first ranking, or not reported.';
