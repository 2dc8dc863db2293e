create or replace view etl.unfound_batches as
select chain_id, feed
from etl.feeds
where kind = 'numbered'
  and (
    isempty(target_numbers)
    or exists (
      -- What was requested without an end is known to exist up to the newest batch that was found.
      select from unnest(target_numbers) as range where upper_inf(range) and (latest_batch >= lower(range)) is not true
    )
  );

comment on view etl.unfound_batches is 'The feeds of numbered lists whose newest batch is not found yet, or lies below what is requested.';
