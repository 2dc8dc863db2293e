create or replace view etl.covered_batches as
select feed, coalesce(read, '{}') as read, coalesce(verified, '{}') as verified
from etl.feeds
left join etl.batch_coverage using (feed)
where kind = 'numbered';

comment on view etl.covered_batches is 'The numbers of each feed of a numbered list that were read, and those that are verified; none before its first walk ends.';
