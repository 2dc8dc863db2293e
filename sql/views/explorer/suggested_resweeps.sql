create or replace view explorer.suggested_resweeps as
select chain_id, feed, every, depth, cost,
       cost = min(cost) over (partition by chain_id, feed) as is_cheapest
from (
  select chain_id, feed, every, p999_lateness + every as depth,
         (extract(epoch from p999_lateness + every) / extract(epoch from every))::double precision
           as cost
  from explorer.suggested_overlap,
       unnest(array[
         interval '1 hour', interval '6 hours', interval '1 day', interval '7 days'
       ]) as every
  where p999_lateness is not null
) as rule;

comment on view explorer.suggested_resweeps is 'Per feed of a newest-first list, resweep rules that would each have caught 99.9 % of the recorded late arrivals. Those that no rule so far was deep enough to see are not among them.';
comment on column explorer.suggested_resweeps.chain_id is 'Number of the chain.';
comment on column explorer.suggested_resweeps.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.suggested_resweeps.every is 'Interval of the rule; also how long an arrival may wait until it is met.';
comment on column explorer.suggested_resweeps.depth is 'Depth of the rule: the lateness that 99.9 % stay within, and the interval.';
comment on column explorer.suggested_resweeps.cost is 'depth / every: pages of this rule for each page that the list itself gets.';
comment on column explorer.suggested_resweeps.is_cheapest is 'Whether no other rule of this feed costs fewer pages.';
