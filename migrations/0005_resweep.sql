ALTER TABLE "etl"."pages" ADD COLUMN "last_key" text;--> statement-breakpoint
DROP INDEX "etl"."walks_one_running";--> statement-breakpoint
CREATE UNIQUE INDEX "walks_one_running" ON "etl"."walks" USING btree ("chain_id","operation","lane",md5("scope"::text),coalesce("floor", -1)) WHERE state = 'running';--> statement-breakpoint
CREATE INDEX "walks_started" ON "etl"."walks" USING btree ("chain_id","operation","started_at");--> statement-breakpoint
CREATE INDEX "walks_top" ON "etl"."walks" USING btree ("chain_id","operation","top");--> statement-breakpoint
create or replace view etl.feed_gaps as
select chain_id, operation, feed, gap
from etl.feed_coverage
join etl.feeds using (chain_id, operation, feed),
     unnest(
       int8multirange(int8range(0, coalesce(highest, 0))) - covered
     ) as gap
where not (lower(gap) = 0 and coalesce(reached_since, false))
  and coalesce(
    (
      select timestamp
      from explorer.user_operations
      where user_operations.chain_id = feed_coverage.chain_id
        and block_number >= upper(gap) - 1
        and timestamp is not null
      order by block_number, hash
      limit 1
    ) >= (settings ->> 'since')::timestamptz,
    true
  );
--> statement-breakpoint
create or replace view explorer.late_arrivals as
select chain_id, hash, block_number, timestamp, seen_at,
       case when timestamp is not null then greatest(seen_at - timestamp, interval '0') end as lateness,
       page_id
from etl.late_arrivals;
--> statement-breakpoint
create view explorer.suggested_overlap as
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
left join explorer.late_arrivals using (chain_id)
where operation = 'user-operations'
group by chain_id, feed;
--> statement-breakpoint
create view explorer.suggested_resweeps as
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
--> statement-breakpoint
COMMENT ON COLUMN etl.pages."last_key" IS 'Key of the last item that tells its block, in a list ordered by block: with bottom, where the next page goes on. Null: none.';
COMMENT ON COLUMN etl.walks."floor" IS 'Block that the walk goes past before it ends, or where the next of several walks begins. Null: it goes to the list''s end, or to the bounds of its scope.';
COMMENT ON COLUMN explorer.late_arrivals."seen_at" IS 'When the walk that first met it began.';
COMMENT ON COLUMN explorer.late_arrivals."lateness" IS 'Between its own time and its first sight, so at least as long as it was really late: an overlap of this length would have caught it.';
COMMENT ON COLUMN etl.late_arrivals."seen_at" IS 'When the walk that first met it began, by the clock of its worker.';
--> statement-breakpoint
COMMENT ON VIEW explorer.suggested_overlap IS 'Per feed of user operations, how late operations appeared behind the head, and an overlap for the configuration. It knows only of arrivals that were seen, and each lateness includes the wait for the look that met it.';
COMMENT ON COLUMN explorer.suggested_overlap."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.suggested_overlap."feed" IS 'Name of the feed, such as 10/user-operations.';
COMMENT ON COLUMN explorer.suggested_overlap."late_arrivals" IS 'Late arrivals that tell their own time: what the figures rest on.';
COMMENT ON COLUMN explorer.suggested_overlap."median_lateness" IS 'Half of them were late by at most this. Null: there are none.';
COMMENT ON COLUMN explorer.suggested_overlap."p90_lateness" IS '90 % of them were late by at most this.';
COMMENT ON COLUMN explorer.suggested_overlap."p99_lateness" IS '99 % of them were late by at most this.';
COMMENT ON COLUMN explorer.suggested_overlap."p999_lateness" IS '99.9 % of them were late by at most this.';
COMMENT ON COLUMN explorer.suggested_overlap."max_lateness" IS 'The latest of them.';
COMMENT ON COLUMN explorer.suggested_overlap."suggested_overlap" IS 'The overlap that would have caught nine in ten at the first look, in whole seconds; the rest is cheaper for a resweep. Each look costs the pages of the overlap.';
COMMENT ON VIEW explorer.suggested_resweeps IS 'Per feed of user operations, resweep rules that would each have caught 99.9 % of the recorded late arrivals. The model: an operation that is late by L is surely met by a rule when L + every <= depth. It knows only of arrivals that were seen: none deeper than the rules so far went.';
COMMENT ON COLUMN explorer.suggested_resweeps."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.suggested_resweeps."feed" IS 'Name of the feed, such as 10/user-operations.';
COMMENT ON COLUMN explorer.suggested_resweeps."every" IS 'Interval of the rule; also how long an arrival may wait until it is met.';
COMMENT ON COLUMN explorer.suggested_resweeps."depth" IS 'Depth of the rule: the lateness that 99.9 % stay within, and the interval.';
COMMENT ON COLUMN explorer.suggested_resweeps."cost" IS 'depth / every: pages of this rule for each page that the list itself gets.';
COMMENT ON COLUMN explorer.suggested_resweeps."is_cheapest" IS 'Whether no other rule of this feed costs fewer pages.';
