alter table etl.quarantine add column last_page_id bigint;
--> statement-breakpoint
alter table etl.drift add column detail text not null default '';
--> statement-breakpoint
alter table etl.drift drop constraint drift_chain_id_operation_path_kind_pk;
--> statement-breakpoint
alter table etl.drift add constraint drift_chain_id_operation_path_kind_detail_pk
  primary key (chain_id, operation, path, kind, detail);
--> statement-breakpoint
create table etl.steady_fields (
  chain_id bigint not null,
  operation text not null,
  path text not null,
  page_id bigint not null,
  constraint steady_fields_chain_id_operation_path_pk primary key (chain_id, operation, path)
);
--> statement-breakpoint
create sequence etl.raw_commits;
--> statement-breakpoint
alter table etl.raw_pages add column commit_number bigint not null default nextval('etl.raw_commits');
--> statement-breakpoint
create index raw_pages_commit_number on etl.raw_pages (commit_number, page_id);
--> statement-breakpoint
create index raw_pages_stored_at on etl.raw_pages (stored_at);
--> statement-breakpoint
alter table etl.walks add column archived_bytes bigint not null default 0;
--> statement-breakpoint
COMMENT ON COLUMN etl.quarantine."last_page_id" IS 'etl.pages.id of the newest page that served it again; quarantine retry writes its rows as of that page. Null: none did.';
COMMENT ON TABLE etl.drift IS 'Where items differ from the specification: what was kept, how often it was seen, and first on which page.';
COMMENT ON COLUMN etl.drift."path" IS 'Where in an item, such as address.proxy_type or rewards[].type.';
COMMENT ON COLUMN etl.drift."kind" IS 'field: not named by the specification. vanished: was on every item, is on none. type: another JSON type. value: not among the known values.';
COMMENT ON COLUMN etl.drift."detail" IS 'The new type or value, at most 100 characters; empty for other kinds.';
COMMENT ON COLUMN etl.drift."occurrences" IS 'How often it was seen: in items, or for vanished ones on pages.';
COMMENT ON TABLE etl.steady_fields IS 'Fields that were on every item of a page with ten or more: should they be on none, they have vanished.';
COMMENT ON COLUMN etl.steady_fields."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN etl.steady_fields."operation" IS 'Name of the operation, such as user-operations.';
COMMENT ON COLUMN etl.steady_fields."path" IS 'Where in an item.';
COMMENT ON COLUMN etl.steady_fields."page_id" IS 'etl.pages.id of the page that first had it on every item.';
COMMENT ON TABLE etl.raw_pages IS 'Bodies of pages, to replay them; filled where explorer.archive is all.';
COMMENT ON COLUMN etl.raw_pages."commit_number" IS 'Orders the transactions that wrote pages; those of one transaction share it.';
COMMENT ON COLUMN etl.raw_pages."stored_at" IS 'When the transaction began that wrote the page: the time that its rows bear.';
COMMENT ON SEQUENCE etl.raw_commits IS 'Numbers of etl.raw_pages.commit_number.';
COMMENT ON COLUMN etl.walks."archived_bytes" IS 'Bytes of its pages in etl.raw_pages, compressed.';
