create or replace view explorer.refreshed as
select summed.name, case when bool_and(read_to is not null) then min(read_to) end as up_to,
       case when bool_and(stale is not null) then sum(stale)::bigint end as stale
from (
  select name, read_to,
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
  ) as newest
) as rollup
join (values
  ('operations_daily', 'operation_days'),
  ('sender_kinds_daily', 'operation_days'),
  ('fees_daily', 'operation_days'),
  ('operations_weekly', 'operation_days'),
  ('operations_weekly', 'sender_sums'),
  ('operations_monthly', 'operation_days'),
  ('operations_monthly', 'sender_sums'),
  ('left_out', 'operation_days'),
  ('cohorts', 'sender_sums'),
  ('senders', 'sender_sums'),
  ('chain_daily', 'block_days'),
  ('batch_stats', 'batch_sums')
) as summed (name, rollup) on rollup.name = summed.rollup
group by summed.name;

comment on view explorer.refreshed is 'The views that are summed up beforehand, with the function left_out that reads one, and up to when they are.';
comment on column explorer.refreshed.name is 'Name of the view or function.';
comment on column explorer.refreshed.up_to is 'What was written before it is in the view, but for what stale counts. Null: nothing was summed up yet.';
comment on column explorer.refreshed.stale is 'How many rows of the view, or days and senders in it, are to be summed up again. Null: not known, because pages were stored after up_to, or rows were deleted.';
