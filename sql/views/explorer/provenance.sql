create or replace view explorer.provenance as
select pages.id as page_id, walks.chain_id, walks.operation, walks.feed, walks.lane, pages.walk_id,
       pages.sequence, pages.cursor_in, pages.cursor_out, walks.scope, pages.fetched_at, pages.items,
       walks.started_at as walk_started_at
from etl.pages
join etl.walks on walks.id = walk_id;

comment on view explorer.provenance is 'Why a row is there: the page that its page_id names, and the request that brought it.';
comment on column explorer.provenance.page_id is 'page_id of the rows that the page last changed.';
comment on column explorer.provenance.chain_id is 'Number of the chain.';
comment on column explorer.provenance.operation is 'Name of the operation.';
comment on column explorer.provenance.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.provenance.lane is 'live: what is new. backfill: history.';
comment on column explorer.provenance.walk_id is 'Its walk: one pass along the pages of a list.';
comment on column explorer.provenance.sequence is 'Its place in the walk, from 1.';
comment on column explorer.provenance.cursor_in is 'Cursor with which it was requested. Null: the first page of the list.';
comment on column explorer.provenance.cursor_out is 'Cursor of the next page, as it was reported. Null: it was the last.';
comment on column explorer.provenance.scope is 'What the walk was to read, such as {"batch": 6}.';
comment on column explorer.provenance.fetched_at is 'When it was answered, by the database''s clock.';
comment on column explorer.provenance.items is 'Items that it held.';
comment on column explorer.provenance.walk_started_at is 'When its walk began.';
