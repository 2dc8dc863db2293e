create or replace view explorer.suggested_overlap as
select chain_id, feed,
       count(lateness) as late_arrivals,
       percentile_disc(0.5) within group (order by lateness) as median_lateness,
       percentile_disc(0.9) within group (order by lateness) as p90_lateness,
       percentile_disc(0.99) within group (order by lateness) as p99_lateness,
       percentile_disc(0.999) within group (order by lateness) as p999_lateness,
       max(lateness) as max_lateness,
       date_trunc('second', percentile_disc(0.9) within group (order by lateness))
         + interval '1 second' as suggested_overlap
from etl.feeds
left join explorer.late_arrivals using (chain_id, operation)
where kind = 'newest-first'
group by chain_id, feed;

comment on view explorer.suggested_overlap is 'Per feed of a newest-first list, how late items appeared behind the head, and an overlap for the configuration. It knows only of arrivals that were seen, and each lateness includes the wait for the poll that met it.';
comment on column explorer.suggested_overlap.chain_id is 'Number of the chain.';
comment on column explorer.suggested_overlap.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.suggested_overlap.late_arrivals is 'Late arrivals that report their own time, behind all figures.';
comment on column explorer.suggested_overlap.median_lateness is 'Half of them were late by at most this. Null: there are none.';
comment on column explorer.suggested_overlap.p90_lateness is '90 % of them were late by at most this.';
comment on column explorer.suggested_overlap.p99_lateness is '99 % of them were late by at most this.';
comment on column explorer.suggested_overlap.p999_lateness is '99.9 % of them were late by at most this.';
comment on column explorer.suggested_overlap.max_lateness is 'The latest of them.';
comment on column explorer.suggested_overlap.suggested_overlap is 'The overlap that would have caught nine in ten at the first poll, in whole seconds; the rest is cheaper for a deep poll.';
