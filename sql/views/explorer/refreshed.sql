create or replace view explorer.refreshed as
select case name when 'operation_days' then 'operations_daily'
                 when 'sender_sums' then 'senders'
                 when 'block_days' then 'chain_daily'
                 when 'batch_sums' then 'batch_stats' end as name,
       read_to as up_to,
       -- What was committed since may be in any of them: the next summing up finds out in which.
       case when begun_at is not null and (written_at > read_to) is not true then (
         select count(*) from etl.stale_sums where stale_sums.name = rollups.name
       ) end as stale
from etl.rollups
cross join (
  select greatest(
           (select max(updated_at) from etl.walks where state = 'running'),
           (select max(finished_at) from etl.walks)
         ) as written_at
) as newest;

comment on view explorer.refreshed is 'The views that are summed up beforehand, and up to when they are.';
comment on column explorer.refreshed.name is 'Name of the view.';
comment on column explorer.refreshed.up_to is 'What was written before it is in the view, but for what stale counts. Null: nothing was summed up yet.';
comment on column explorer.refreshed.stale is 'How many rows of the view, or days of it, are to be summed up again. Null: not known, because pages were stored after up_to, or rows were deleted.';
