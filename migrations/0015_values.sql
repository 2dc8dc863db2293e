-- A value of another type or format counts as not told. Nothing changes but what is said of it.
COMMENT ON COLUMN explorer.addresses."is_contract" IS 'Whether it is a contract; API field is_contract. Newest told by a sight that is no stub. Null: never told, as of an address that is known by stubs only.';
--> statement-breakpoint
COMMENT ON COLUMN explorer.addresses."extra" IS 'What no column holds: fields that the specification does not name, values of another type or format under their field''s name and what is off (name (array)), labels that name another address (foreign_tags). The newest that was not null.';
--> statement-breakpoint
COMMENT ON COLUMN etl.drift."kind" IS 'field: not named by the specification. vanished: was on every item, is on none. type: another JSON type. format: another format, such as 0x for a hash. value: not among the known values.';
--> statement-breakpoint
COMMENT ON COLUMN etl.drift."detail" IS 'The new type or value, or what was expected of the format, at most 100 characters; empty for other kinds.';
--> statement-breakpoint
COMMENT ON COLUMN explorer.blocks."extra" IS 'Fields of the block that no column or child table holds, as served, each where it stood, and values of another type or format under their field''s name and what is off (timestamp (malformed)). Null: none.';
--> statement-breakpoint
COMMENT ON COLUMN explorer.user_operations."extra" IS 'Fields of the operation that no column holds, as served, and values of another type or format under their field''s name and what is off (fee (malformed)). Null: none.';
--> statement-breakpoint
COMMENT ON COLUMN explorer.factories."extra" IS 'Fields of the factory that no column holds, as served, and values of another type or format under their field''s name and what is off (total_accounts (string)). Null: none.';
