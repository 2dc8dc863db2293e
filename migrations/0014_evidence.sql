alter table etl.feeds add column origin text;
--> statement-breakpoint
alter table etl.quarantine add column from_block bigint;
--> statement-breakpoint
alter table etl.quarantine add column to_block bigint;
--> statement-breakpoint
alter table etl.quarantine add column dropped_at timestamp with time zone;
--> statement-breakpoint
create or replace view explorer.coverage as
select chain_id, operation, feed,
       lower(range) as from_block,
       upper(range) - 1 as to_block,
       look.oldest as as_of,
       look.newest as newest_as_of
from etl.feed_coverage,
     unnest(covered) as range,
     lateral (
       select min(started_at) as oldest, max(started_at) as newest
       from etl.walks
       where walks.chain_id = feed_coverage.chain_id
         and walks.operation = feed_coverage.operation
         and etl.proven_range(kind, is_ordered, state, reason, top, bottom) && range
     ) as look;
--> statement-breakpoint
COMMENT ON COLUMN etl.feeds."origin" IS 'Where its pages come from: scheme, host and path of its explorer, never a key. Another one is refused unless a person says that both serve the same chain. Null: nothing was asked for yet.';
COMMENT ON COLUMN etl.quarantine."from_block" IS 'Lowest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
COMMENT ON COLUMN etl.quarantine."to_block" IS 'Highest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
COMMENT ON COLUMN etl.quarantine."dropped_at" IS 'When a person dropped it: it is no row, and no longer open. Null: it waits.';
COMMENT ON COLUMN explorer.coverage."newest_as_of" IS 'When the newest of the walks that prove some of the range began.';
COMMENT ON COLUMN etl.walks."reason" IS 'Why it ended before the end of the list: floor, since, max-pages, cursor loop, superseded or what the explorer said; or why it says less than a whole list though it reached the end: moved (rows moved during a census), skipped (an empty page led on past a part of it), empty (nobody was listed, where there was somebody). Null: neither.';
