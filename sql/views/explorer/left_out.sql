create or replace function explorer.left_out(since date) returns table (chain_id bigint, untimed bigint, caveat text)
language sql stable parallel safe rows 10 set search_path = pg_catalog, pg_temp
begin atomic
  select chains.chain_id, (
           select coalesce(sum(operations), 0)::bigint from explorer.operations_daily as daily
           where day is null and daily.chain_id = chains.chain_id
         ), explorer.incompleteness(chains.chain_id, 'user-operations', since)
  from explorer.chains;
end;

comment on function explorer.left_out is 'What a statement about operations by time leaves out, for each chain: operations without a known time (untimed), and why its days from a date on may lack others (caveat, as of explorer.incompleteness; null: they lack none, or no date is given).';
