alter table etl.census_entries add column has_moved boolean default false not null;
--> statement-breakpoint
create index census_entries_place on etl.census_entries (walk_id, position);
--> statement-breakpoint
create table etl.censuses (
	walk_id bigint primary key not null,
	chain_id bigint not null,
	as_of timestamp with time zone not null,
	published_at timestamp with time zone not null,
	factories bigint not null,
	walks integer not null,
	still_moving boolean not null
);
--> statement-breakpoint
create index censuses_chain on etl.censuses (chain_id, walk_id);
--> statement-breakpoint
COMMENT ON TABLE etl.census_entries IS 'What the walks of a census of factories have met so far; emptied when it is published.';
COMMENT ON COLUMN etl.census_entries."walk_id" IS 'etl.walks.id of the walk.';
COMMENT ON COLUMN etl.census_entries."position" IS 'Place in the walk, from 0, as last met.';
COMMENT ON COLUMN etl.census_entries."has_moved" IS 'Whether it shows that rows moved during the walk: met before on it, or more accounts than the one above.';
COMMENT ON TABLE etl.censuses IS 'One row for each census of factories that was published.';
COMMENT ON COLUMN etl.censuses."walk_id" IS 'etl.walks.id of its last walk.';
COMMENT ON COLUMN etl.censuses."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN etl.censuses."as_of" IS 'When the oldest of its walks began that its ranks rest on.';
COMMENT ON COLUMN etl.censuses."published_at" IS 'When its ranks, missing_since and history were written, by the database''s clock.';
COMMENT ON COLUMN etl.censuses."factories" IS 'Factories that it ranked.';
COMMENT ON COLUMN etl.censuses."walks" IS 'Walks that it took: more than one where rows moved meanwhile.';
COMMENT ON COLUMN etl.censuses."still_moving" IS 'Whether rows still moved during the last walk, so that a factory may be missing from it or ranked by an older count.';
COMMENT ON COLUMN etl.walks."reason" IS 'Why it ended before the end of the list: floor, since, max-pages, cursor loop, superseded or what the explorer said; or why it says less than a whole list though it reached the end: moved (rows moved during a census). Null: neither.';
