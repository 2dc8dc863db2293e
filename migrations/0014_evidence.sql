alter table etl.feeds add column origin text;
--> statement-breakpoint
alter table etl.quarantine add column from_block bigint;
--> statement-breakpoint
alter table etl.quarantine add column to_block bigint;
--> statement-breakpoint
alter table etl.quarantine add column dropped_at timestamp with time zone;
--> statement-breakpoint
COMMENT ON COLUMN etl.feeds."origin" IS 'Where its pages come from: scheme, host and path of its explorer, never a key. Another one is refused unless a person says that both serve the same chain. Null: nothing was asked for yet.';
COMMENT ON COLUMN etl.quarantine."from_block" IS 'Lowest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
COMMENT ON COLUMN etl.quarantine."to_block" IS 'Highest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
COMMENT ON COLUMN etl.quarantine."dropped_at" IS 'When a person dropped it: it is no row, and no longer open. Null: it waits.';
COMMENT ON COLUMN etl.walks."reason" IS 'Why it ended before the end of the list: floor, since, max-pages, cursor loop, superseded or what the explorer said; or why it says less than a whole list though it reached the end: moved (rows moved during a census), skipped (an empty page led on past a part of it), empty (nobody was listed, where there was somebody). Null: neither.';
