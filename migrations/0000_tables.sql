CREATE SCHEMA IF NOT EXISTS "explorer";
--> statement-breakpoint
CREATE SCHEMA IF NOT EXISTS "etl";
--> statement-breakpoint
CREATE TABLE "explorer"."address_implementations" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"implementation_hash" text collate "C",
	"name" text,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "address_implementations_chain_id_address_hash_position_pk" PRIMARY KEY("chain_id","address_hash","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."address_labels" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"kind" text NOT NULL,
	"position" bigint NOT NULL,
	"label" text,
	"display_name" text,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "address_labels_chain_id_address_hash_kind_position_pk" PRIMARY KEY("chain_id","address_hash","kind","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."address_metadata_tags" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"slug" text,
	"name" text,
	"tag_type" text,
	"ordinal" bigint,
	"meta" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "address_metadata_tags_chain_id_address_hash_position_pk" PRIMARY KEY("chain_id","address_hash","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."address_watchlist_names" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"label" text,
	"display_name" text,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "address_watchlist_names_chain_id_address_hash_position_pk" PRIMARY KEY("chain_id","address_hash","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."addresses" (
	"chain_id" bigint NOT NULL,
	"hash" text collate "C" NOT NULL,
	"name" text,
	"ens_domain_name" text,
	"is_contract" boolean,
	"is_scam" boolean,
	"is_verified" boolean,
	"proxy_type" text,
	"reputation" text,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "addresses_chain_id_hash_pk" PRIMARY KEY("chain_id","hash")
);
--> statement-breakpoint
CREATE TABLE "etl"."workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"deployment" text,
	"host" text NOT NULL,
	"version" text NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"kind" text NOT NULL,
	"feed" text,
	"sentence" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."feeds" (
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"kind" text NOT NULL,
	"unit" text DEFAULT 'blocks' NOT NULL,
	"failure" text,
	"reason" text,
	"settings" jsonb NOT NULL,
	"target" jsonb,
	"origin" text,
	"latest_batch" bigint,
	"target_numbers" "int8multirange" DEFAULT '{}' NOT NULL,
	"last_success_at" timestamp with time zone,
	"since_doubted_at" timestamp with time zone,
	"rows_before" bigint DEFAULT 0 NOT NULL,
	"reset_at" timestamp with time zone,
	"poll_again_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "feeds_chain_id_operation_pk" PRIMARY KEY("chain_id","operation"),
	CONSTRAINT "feeds_feed_unique" UNIQUE("feed")
);
--> statement-breakpoint
CREATE TABLE "etl"."change_bound" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."maintenance" (
	"task" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."drift" (
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"path" text NOT NULL,
	"kind" text NOT NULL,
	"detail" text DEFAULT '' NOT NULL,
	"occurrences" bigint DEFAULT 0 NOT NULL,
	"first_page_id" bigint NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "drift_chain_id_operation_path_kind_detail_pk" PRIMARY KEY("chain_id","operation","path","kind","detail")
);
--> statement-breakpoint
CREATE TABLE "etl"."always_present_fields" (
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"path" text NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "always_present_fields_chain_id_operation_path_pk" PRIMARY KEY("chain_id","operation","path")
);
--> statement-breakpoint
CREATE TABLE "etl"."hosts" (
	"origin" text PRIMARY KEY NOT NULL,
	"failing_since" timestamp with time zone NOT NULL,
	"failure" text NOT NULL,
	"reason" text NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."budget" (
	"key_fingerprint" text PRIMARY KEY NOT NULL,
	"requests_per_second" double precision NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"queue_at" timestamp with time zone,
	"service_limit" double precision,
	"daily_credits" bigint,
	"credits_day" date,
	"credits_spent" bigint DEFAULT 0 NOT NULL,
	"credits_remaining" bigint,
	"paused_until" timestamp with time zone,
	"pause_class" text,
	"pause_reason" text,
	"requests" bigint DEFAULT 0 NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."late_arrivals" (
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"key" text NOT NULL,
	"height" bigint NOT NULL,
	"timestamp" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "late_arrivals_chain_id_operation_key_page_id_pk" PRIMARY KEY("chain_id","operation","key","page_id")
);
--> statement-breakpoint
CREATE TABLE "explorer"."chains" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"native_symbol" text,
	"native_decimals" bigint DEFAULT 18 NOT NULL,
	"explorer_url" text
);
--> statement-breakpoint
CREATE TABLE "etl"."runs" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"lane" text NOT NULL,
	"scope" jsonb NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"failure" text,
	"reason" text,
	"latest_batch_before" bigint,
	"failures_in_a_row" integer DEFAULT 0 NOT NULL,
	"failed_requests" bigint DEFAULT 0 NOT NULL,
	"first_failure" text,
	"waited_ms" bigint DEFAULT 0 NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "explorer"."factories" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"total_accounts" bigint,
	"rank" bigint,
	"missing_since" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "factories_chain_id_address_hash_pk" PRIMARY KEY("chain_id","address_hash")
);
--> statement-breakpoint
CREATE TABLE "explorer"."factory_history" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"total_accounts" bigint,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "factory_history_chain_id_address_hash_observed_at_pk" PRIMARY KEY("chain_id","address_hash","observed_at")
);
--> statement-breakpoint
CREATE TABLE "etl"."ranking_entries" (
	"walk_id" bigint NOT NULL,
	"key" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"total" bigint,
	"has_moved" boolean DEFAULT false NOT NULL,
	CONSTRAINT "ranking_entries_walk_id_key_pk" PRIMARY KEY("walk_id","key")
);
--> statement-breakpoint
CREATE TABLE "etl"."rankings" (
	"walk_id" bigint PRIMARY KEY NOT NULL,
	"feed" text NOT NULL,
	"as_of" timestamp with time zone NOT NULL,
	"published_at" timestamp with time zone NOT NULL,
	"items" bigint NOT NULL,
	"walks" integer NOT NULL,
	"still_moving" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."batch_observations" (
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"batch_number" bigint NOT NULL,
	"top" bigint,
	"bottom" bigint,
	"parent_hash" text collate "C",
	"times_seen" integer DEFAULT 0 NOT NULL,
	"walk_id" bigint NOT NULL,
	"run_id" bigint NOT NULL,
	CONSTRAINT "batch_observations_chain_id_operation_batch_number_pk" PRIMARY KEY("chain_id","operation","batch_number")
);
--> statement-breakpoint
CREATE TABLE "explorer"."block_arbitrum" (
	"chain_id" bigint NOT NULL,
	"block_height" bigint NOT NULL,
	"batch_number" bigint,
	"status" text,
	"batch_data_container" text,
	"delayed_messages" bigint,
	"l1_block_number" bigint,
	"send_count" bigint,
	"send_root" text collate "C",
	"commitment_transaction_hash" text collate "C",
	"commitment_transaction_status" text,
	"commitment_transaction_timestamp" timestamp with time zone,
	"confirmation_transaction_hash" text collate "C",
	"confirmation_transaction_status" text,
	"confirmation_transaction_timestamp" timestamp with time zone,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "block_arbitrum_chain_id_block_height_pk" PRIMARY KEY("chain_id","block_height")
);
--> statement-breakpoint
CREATE TABLE "explorer"."block_reorgs" (
	"chain_id" bigint NOT NULL,
	"height" bigint NOT NULL,
	"old_hash" text collate "C" NOT NULL,
	"new_hash" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "block_reorgs_chain_id_height_new_hash_observed_at_pk" PRIMARY KEY("chain_id","height","new_hash","observed_at")
);
--> statement-breakpoint
CREATE TABLE "explorer"."block_rewards" (
	"chain_id" bigint NOT NULL,
	"block_height" bigint NOT NULL,
	"position" bigint NOT NULL,
	"reward" numeric(78, 0),
	"type" text,
	"address_hash" text collate "C",
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "block_rewards_chain_id_block_height_position_pk" PRIMARY KEY("chain_id","block_height","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."block_uncles" (
	"chain_id" bigint NOT NULL,
	"block_height" bigint NOT NULL,
	"position" bigint NOT NULL,
	"hash" text collate "C",
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "block_uncles_chain_id_block_height_position_pk" PRIMARY KEY("chain_id","block_height","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."blocks" (
	"chain_id" bigint NOT NULL,
	"height" bigint NOT NULL,
	"hash" text collate "C" NOT NULL,
	"parent_hash" text collate "C",
	"timestamp" timestamp with time zone,
	"type" text,
	"miner_hash" text collate "C",
	"nonce" text,
	"size" bigint,
	"is_pending_update" boolean,
	"transactions_count" bigint,
	"internal_transactions_count" bigint,
	"withdrawals_count" bigint,
	"gas_limit" numeric(78, 0),
	"gas_used" numeric(78, 0),
	"gas_used_percentage" double precision,
	"gas_target_percentage" double precision,
	"base_fee_per_gas" numeric(78, 0),
	"burnt_fees" numeric(78, 0),
	"burnt_fees_percentage" double precision,
	"priority_fee" numeric(78, 0),
	"transaction_fees" numeric(78, 0),
	"difficulty" numeric(78, 0),
	"total_difficulty" numeric(78, 0),
	"optimism_batch_number" bigint,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "blocks_chain_id_height_pk" PRIMARY KEY("chain_id","height")
);
--> statement-breakpoint
CREATE TABLE "explorer"."read_batches" (
	"chain_id" bigint NOT NULL,
	"batch_number" bigint NOT NULL,
	"state" text NOT NULL,
	"blocks_count" bigint NOT NULL,
	"first_height" bigint,
	"last_height" bigint,
	"is_contiguous" boolean,
	"is_linked" boolean,
	"is_verified" boolean DEFAULT false NOT NULL,
	"walked_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "read_batches_chain_id_batch_number_pk" PRIMARY KEY("chain_id","batch_number")
);
--> statement-breakpoint
CREATE TABLE "explorer"."listed_batches" (
	"chain_id" bigint NOT NULL,
	"batch_number" bigint NOT NULL,
	"l1_timestamp" timestamp with time zone,
	"transactions_count" bigint,
	"l2_start_block_number" bigint,
	"l2_end_block_number" bigint,
	"batch_data_container" text,
	"removed_at" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "listed_batches_chain_id_batch_number_pk" PRIMARY KEY("chain_id","batch_number")
);
--> statement-breakpoint
CREATE TABLE "explorer"."optimism_batch_l1_transactions" (
	"chain_id" bigint NOT NULL,
	"batch_number" bigint NOT NULL,
	"position" bigint NOT NULL,
	"hash" text collate "C",
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "optimism_batch_l1_transactions_chain_id_batch_number_position_pk" PRIMARY KEY("chain_id","batch_number","position")
);
--> statement-breakpoint
CREATE TABLE "explorer"."user_operations" (
	"chain_id" bigint NOT NULL,
	"hash" text collate "C" NOT NULL,
	"block_number" bigint,
	"timestamp" timestamp with time zone,
	"status" boolean,
	"address_hash" text collate "C",
	"entry_point_hash" text collate "C",
	"entry_point_version" text,
	"transaction_hash" text collate "C",
	"fee" numeric(78, 0),
	"removed_at" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "user_operations_chain_id_hash_pk" PRIMARY KEY("chain_id","hash")
);
--> statement-breakpoint
CREATE TABLE "etl"."quarantine" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"scope" jsonb NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_hash" text NOT NULL,
	"reason" text NOT NULL,
	"page_id" bigint NOT NULL,
	"last_page_id" bigint,
	"position" integer NOT NULL,
	"from_block" bigint,
	"to_block" bigint,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"dropped_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "etl"."raw_pages" (
	"page_id" bigint PRIMARY KEY NOT NULL,
	"body" "bytea" NOT NULL,
	"stored_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."batch_sums" (
	"chain_id" bigint NOT NULL,
	"batch_number" bigint NOT NULL,
	"first_at" timestamp with time zone,
	"last_at" timestamp with time zone,
	"blocks" bigint NOT NULL,
	"transactions" numeric,
	"size" numeric,
	"gas_used" numeric,
	"gas_limit" numeric,
	"burnt_fees" numeric,
	"transaction_fees" numeric,
	CONSTRAINT "batch_sums_chain_id_batch_number_pk" PRIMARY KEY("chain_id","batch_number")
);
--> statement-breakpoint
CREATE TABLE "etl"."active_senders" (
	"chain_id" bigint NOT NULL,
	"unit" text NOT NULL,
	"first_day" date NOT NULL,
	"begun" date NOT NULL,
	"senders" bigint NOT NULL,
	CONSTRAINT "active_senders_chain_id_unit_first_day_begun_pk" PRIMARY KEY("chain_id","unit","first_day","begun")
);
--> statement-breakpoint
CREATE TABLE "etl"."block_days" (
	"chain_id" bigint NOT NULL,
	"day" date NOT NULL,
	"blocks" bigint NOT NULL,
	"first_height" bigint NOT NULL,
	"last_height" bigint NOT NULL,
	"first_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"transactions" numeric,
	"gas_used" numeric,
	"gas_limit" numeric,
	"burnt_fees" numeric,
	"transaction_fees" numeric,
	CONSTRAINT "block_days_chain_id_day_pk" PRIMARY KEY("chain_id","day")
);
--> statement-breakpoint
CREATE TABLE "etl"."fee_days" (
	"chain_id" bigint NOT NULL,
	"day" date NOT NULL,
	"operations" bigint NOT NULL,
	"fees" numeric[] NOT NULL,
	CONSTRAINT "fee_days_chain_id_day_pk" PRIMARY KEY("chain_id","day")
);
--> statement-breakpoint
CREATE TABLE "etl"."operation_days" (
	"chain_id" bigint NOT NULL,
	"day" date NOT NULL,
	"entry_point_version" text NOT NULL,
	"sender_kind" text NOT NULL,
	"operations" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"senders" bigint NOT NULL,
	"fees" numeric,
	CONSTRAINT "operation_days_chain_id_day_entry_point_version_sender_kind_pk" PRIMARY KEY("chain_id","day","entry_point_version","sender_kind")
);
--> statement-breakpoint
CREATE TABLE "etl"."rollups" (
	"name" text PRIMARY KEY NOT NULL,
	"read_to" timestamp with time zone,
	"begun_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "etl"."sender_sums" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"first_operation_at" timestamp with time zone,
	"last_operation_at" timestamp with time zone,
	"operations" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"fees" numeric,
	"weeks" date[] NOT NULL,
	"months" date[] NOT NULL,
	CONSTRAINT "sender_sums_chain_id_address_hash_pk" PRIMARY KEY("chain_id","address_hash")
);
--> statement-breakpoint
CREATE TABLE "etl"."stale_sums" (
	"name" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"key" text NOT NULL,
	CONSTRAINT "stale_sums_name_chain_id_key_pk" PRIMARY KEY("name","chain_id","key")
);
--> statement-breakpoint
CREATE TABLE "etl"."moved_rows" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"key" text NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."incarnations" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."edited_batches" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"batch_number" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."batch_coverage" (
	"feed" text PRIMARY KEY NOT NULL,
	"read" "int8multirange" DEFAULT '{}' NOT NULL,
	"verified" "int8multirange" DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "etl"."lanes" (
	"feed" text NOT NULL,
	"lane" text NOT NULL,
	"wanted_by" text[] DEFAULT '{}' NOT NULL,
	"scope" jsonb,
	"next_due_at" timestamp with time zone,
	"requested_at" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"worker" uuid,
	"taken_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"stopped_at" timestamp with time zone,
	CONSTRAINT "lanes_feed_lane_pk" PRIMARY KEY("feed","lane")
);
--> statement-breakpoint
CREATE TABLE "etl"."coverage" (
	"feed" text NOT NULL,
	"lane" text NOT NULL,
	"verified" "int8multirange" DEFAULT '{}' NOT NULL,
	"verified_at" timestamp with time zone,
	"pages" bigint DEFAULT 0 NOT NULL,
	"inserted" bigint DEFAULT 0 NOT NULL,
	"archived_bytes" bigint DEFAULT 0 NOT NULL,
	"credits" bigint DEFAULT 0 NOT NULL,
	"spanned_items" bigint DEFAULT 0 NOT NULL,
	"spanned_blocks" bigint DEFAULT 0 NOT NULL,
	"last_page_at" timestamp with time zone,
	CONSTRAINT "coverage_feed_lane_pk" PRIMARY KEY("feed","lane")
);
--> statement-breakpoint
CREATE TABLE "etl"."pages" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"walk_id" bigint NOT NULL,
	"feed" text NOT NULL,
	"sequence" bigint NOT NULL,
	"cursor_in" jsonb,
	"cursor_out" jsonb,
	"items" integer NOT NULL,
	"rows" integer NOT NULL,
	"repeats" integer NOT NULL,
	"quarantined" integer NOT NULL,
	"inserted" integer NOT NULL,
	"changed" integer NOT NULL,
	"top" bigint,
	"bottom" bigint,
	"heights" "int8multirange",
	"is_ordered" boolean DEFAULT true NOT NULL,
	"is_end_reported" boolean DEFAULT true NOT NULL,
	"misplaced" integer[],
	"jumped" "int8range",
	"last_key" text,
	"bytes" integer NOT NULL,
	"body_hash" text NOT NULL,
	"attempts" integer NOT NULL,
	"latency_ms" integer NOT NULL,
	"credits" integer NOT NULL,
	"fetched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pages_nothing_dropped" CHECK (items = rows + quarantined + repeats),
	CONSTRAINT "pages_rows_counted" CHECK (inserted + changed <= rows)
);
--> statement-breakpoint
CREATE TABLE "etl"."pruned" (
	"feed" text NOT NULL,
	"lane" text NOT NULL,
	"pages" bigint NOT NULL,
	"credits" bigint NOT NULL,
	"spanned_items" bigint NOT NULL,
	"spanned_blocks" bigint NOT NULL,
	"verified" "int8multirange" NOT NULL,
	"as_of" timestamp with time zone NOT NULL,
	"newest_as_of" timestamp with time zone NOT NULL,
	CONSTRAINT "pruned_feed_lane_pk" PRIMARY KEY("feed","lane")
);
--> statement-breakpoint
CREATE TABLE "etl"."walks" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"operation" text NOT NULL,
	"feed" text GENERATED ALWAYS AS (chain_id::text || '/' || operation) STORED NOT NULL,
	"lane" text NOT NULL,
	"run_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"scope" jsonb NOT NULL,
	"batch" bigint GENERATED ALWAYS AS ((scope ->> 'batch')::bigint) STORED,
	"state" text DEFAULT 'running' NOT NULL,
	"failure" text,
	"reason" text,
	"cursor" jsonb,
	"revision" bigint DEFAULT 0 NOT NULL,
	"floor" bigint,
	"depth_ms" bigint,
	"from_head" boolean DEFAULT true NOT NULL,
	"is_ordered" boolean DEFAULT true NOT NULL,
	"verified" "int8multirange" DEFAULT '{}' NOT NULL,
	"range_top" bigint,
	"cuts" bigint DEFAULT 0 NOT NULL,
	"top" bigint,
	"bottom" bigint,
	"pages" bigint DEFAULT 0 NOT NULL,
	"items" bigint DEFAULT 0 NOT NULL,
	"inserted" bigint DEFAULT 0 NOT NULL,
	"changed" bigint DEFAULT 0 NOT NULL,
	"quarantined" bigint DEFAULT 0 NOT NULL,
	"archived_bytes" bigint DEFAULT 0 NOT NULL,
	"credits" bigint DEFAULT 0 NOT NULL,
	"empty_run" integer DEFAULT 0 NOT NULL,
	"is_older" boolean DEFAULT false NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"as_of" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "explorer"."bundles" (
	"chain_id" bigint NOT NULL,
	"transaction_hash" text collate "C" NOT NULL,
	"bundle_index" bigint NOT NULL,
	"block_number" bigint,
	"timestamp" timestamp with time zone,
	"bundler_hash" text collate "C",
	"total_ops" bigint,
	"removed_at" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "bundles_chain_id_transaction_hash_bundle_index_pk" PRIMARY KEY("chain_id","transaction_hash","bundle_index")
);
--> statement-breakpoint
CREATE TABLE "explorer"."bundler_history" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"total_ops" bigint,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "bundler_history_chain_id_address_hash_observed_at_pk" PRIMARY KEY("chain_id","address_hash","observed_at")
);
--> statement-breakpoint
CREATE TABLE "explorer"."bundlers" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"total_bundles" bigint,
	"total_ops" bigint,
	"rank" bigint,
	"missing_since" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "bundlers_chain_id_address_hash_pk" PRIMARY KEY("chain_id","address_hash")
);
--> statement-breakpoint
CREATE TABLE "explorer"."paymaster_history" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"total_ops" bigint,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "paymaster_history_chain_id_address_hash_observed_at_pk" PRIMARY KEY("chain_id","address_hash","observed_at")
);
--> statement-breakpoint
CREATE TABLE "explorer"."paymasters" (
	"chain_id" bigint NOT NULL,
	"address_hash" text collate "C" NOT NULL,
	"total_ops" bigint,
	"rank" bigint,
	"missing_since" timestamp with time zone,
	"extra" jsonb,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "paymasters_chain_id_address_hash_pk" PRIMARY KEY("chain_id","address_hash")
);
--> statement-breakpoint
ALTER TABLE "explorer"."address_implementations" ADD CONSTRAINT "address_implementations_chain_id_address_hash_addresses_chain_id_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."addresses"("chain_id","hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."address_labels" ADD CONSTRAINT "address_labels_chain_id_address_hash_addresses_chain_id_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."addresses"("chain_id","hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."address_metadata_tags" ADD CONSTRAINT "address_metadata_tags_chain_id_address_hash_addresses_chain_id_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."addresses"("chain_id","hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."address_watchlist_names" ADD CONSTRAINT "address_watchlist_names_chain_id_address_hash_addresses_chain_id_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."addresses"("chain_id","hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."drift" ADD CONSTRAINT "drift_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."always_present_fields" ADD CONSTRAINT "always_present_fields_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."late_arrivals" ADD CONSTRAINT "late_arrivals_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."runs" ADD CONSTRAINT "runs_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."factory_history" ADD CONSTRAINT "factory_history_chain_id_address_hash_factories_chain_id_address_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."factories"("chain_id","address_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."block_arbitrum" ADD CONSTRAINT "block_arbitrum_chain_id_block_height_blocks_chain_id_height_fk" FOREIGN KEY ("chain_id","block_height") REFERENCES "explorer"."blocks"("chain_id","height") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."block_rewards" ADD CONSTRAINT "block_rewards_chain_id_block_height_blocks_chain_id_height_fk" FOREIGN KEY ("chain_id","block_height") REFERENCES "explorer"."blocks"("chain_id","height") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."block_uncles" ADD CONSTRAINT "block_uncles_chain_id_block_height_blocks_chain_id_height_fk" FOREIGN KEY ("chain_id","block_height") REFERENCES "explorer"."blocks"("chain_id","height") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."optimism_batch_l1_transactions" ADD CONSTRAINT "optimism_batch_l1_transactions_chain_id_batch_number_listed_batches_chain_id_batch_number_fk" FOREIGN KEY ("chain_id","batch_number") REFERENCES "explorer"."listed_batches"("chain_id","batch_number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."quarantine" ADD CONSTRAINT "quarantine_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."raw_pages" ADD CONSTRAINT "raw_pages_page_id_pages_id_fk" FOREIGN KEY ("page_id") REFERENCES "etl"."pages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."stale_sums" ADD CONSTRAINT "stale_sums_name_rollups_name_fk" FOREIGN KEY ("name") REFERENCES "etl"."rollups"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."batch_coverage" ADD CONSTRAINT "batch_coverage_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."lanes" ADD CONSTRAINT "lanes_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."coverage" ADD CONSTRAINT "coverage_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."pages" ADD CONSTRAINT "pages_walk_id_walks_id_fk" FOREIGN KEY ("walk_id") REFERENCES "etl"."walks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."pruned" ADD CONSTRAINT "pruned_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "etl"."walks" ADD CONSTRAINT "walks_feed_feeds_feed_fk" FOREIGN KEY ("feed") REFERENCES "etl"."feeds"("feed") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."bundler_history" ADD CONSTRAINT "bundler_history_chain_id_address_hash_bundlers_chain_id_address_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."bundlers"("chain_id","address_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "explorer"."paymaster_history" ADD CONSTRAINT "paymaster_history_chain_id_address_hash_paymasters_chain_id_address_hash_fk" FOREIGN KEY ("chain_id","address_hash") REFERENCES "explorer"."paymasters"("chain_id","address_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_at" ON "etl"."events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "late_arrivals_seen_at" ON "etl"."late_arrivals" USING btree ("seen_at");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_one_open" ON "etl"."runs" USING btree ("feed","lane") WHERE state = 'open';--> statement-breakpoint
CREATE INDEX "runs_feed" ON "etl"."runs" USING btree ("feed","lane","id");--> statement-breakpoint
CREATE INDEX "runs_unfinished" ON "etl"."runs" USING btree ("feed","lane","id") WHERE state in ('open', 'interrupted');--> statement-breakpoint
CREATE INDEX "runs_finished" ON "etl"."runs" USING btree ("feed","lane","id") WHERE state = 'finished';--> statement-breakpoint
CREATE INDEX "ranking_entries_place" ON "etl"."ranking_entries" USING btree ("walk_id","position");--> statement-breakpoint
CREATE INDEX "rankings_feed" ON "etl"."rankings" USING btree ("feed","walk_id");--> statement-breakpoint
CREATE INDEX "block_reorgs_old_hash" ON "explorer"."block_reorgs" USING btree ("old_hash","chain_id");--> statement-breakpoint
CREATE INDEX "block_reorgs_observed_at" ON "explorer"."block_reorgs" USING btree ("observed_at","chain_id");--> statement-breakpoint
CREATE INDEX "blocks_hash" ON "explorer"."blocks" USING btree ("hash","chain_id");--> statement-breakpoint
CREATE INDEX "blocks_optimism_batch_number" ON "explorer"."blocks" USING btree ("optimism_batch_number","chain_id");--> statement-breakpoint
CREATE INDEX "blocks_timestamp" ON "explorer"."blocks" USING btree ("timestamp","chain_id");--> statement-breakpoint
CREATE INDEX "blocks_updated_at" ON "explorer"."blocks" USING brin ("updated_at") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "blocks_page" ON "explorer"."blocks" USING brin ("page_id") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "blocks_pending" ON "explorer"."blocks" USING btree ("optimism_batch_number","chain_id") WHERE is_pending_update;--> statement-breakpoint
CREATE INDEX "read_batches_unverified" ON "explorer"."read_batches" USING btree ("batch_number","chain_id") WHERE not is_verified;--> statement-breakpoint
CREATE INDEX "read_batches_heights" ON "explorer"."read_batches" USING gist (int8range("first_height", "last_height", '[]')) WHERE blocks_count > 0;--> statement-breakpoint
CREATE INDEX "listed_batches_l1_timestamp" ON "explorer"."listed_batches" USING btree ("l1_timestamp","chain_id");--> statement-breakpoint
CREATE INDEX "optimism_batch_l1_transactions_hash" ON "explorer"."optimism_batch_l1_transactions" USING btree ("hash","chain_id");--> statement-breakpoint
CREATE INDEX "user_operations_block_number" ON "explorer"."user_operations" USING btree ("chain_id","block_number","hash");--> statement-breakpoint
CREATE INDEX "user_operations_address_hash" ON "explorer"."user_operations" USING btree ("address_hash","chain_id");--> statement-breakpoint
CREATE INDEX "user_operations_timestamp" ON "explorer"."user_operations" USING btree ("timestamp" DESC NULLS FIRST,"chain_id");--> statement-breakpoint
CREATE INDEX "user_operations_transaction_hash" ON "explorer"."user_operations" USING hash ("transaction_hash");--> statement-breakpoint
CREATE INDEX "user_operations_timeless" ON "explorer"."user_operations" USING btree ("chain_id","block_number") WHERE timestamp is null;--> statement-breakpoint
CREATE INDEX "user_operations_updated_at" ON "explorer"."user_operations" USING brin ("updated_at") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "user_operations_page" ON "explorer"."user_operations" USING brin ("page_id") WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "quarantine_item" ON "etl"."quarantine" USING btree ("feed","raw_hash",md5("scope"::text));--> statement-breakpoint
CREATE INDEX "quarantine_waiting" ON "etl"."quarantine" USING btree ("id") WHERE dropped_at is null;--> statement-breakpoint
CREATE INDEX "raw_pages_stored_at" ON "etl"."raw_pages" USING btree ("stored_at");--> statement-breakpoint
CREATE INDEX "batch_sums_last_at" ON "etl"."batch_sums" USING btree ("last_at","chain_id");--> statement-breakpoint
CREATE INDEX "sender_sums_operations" ON "etl"."sender_sums" USING btree ("operations","chain_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pages_walk_sequence" ON "etl"."pages" USING btree ("walk_id","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "pages_walk_cursor" ON "etl"."pages" USING btree ("walk_id",md5(coalesce("cursor_in", '{}')::text));--> statement-breakpoint
CREATE INDEX "pages_entry" ON "etl"."pages" USING btree ("feed","top","id") WHERE cursor_in is not null and is_ordered;--> statement-breakpoint
CREATE INDEX "pages_jumped" ON "etl"."pages" USING btree ("feed") WHERE jumped is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "walks_one_running" ON "etl"."walks" USING btree ("feed","lane",md5("scope"::text),coalesce("floor", -1)) WHERE state = 'running';--> statement-breakpoint
CREATE INDEX "walks_run" ON "etl"."walks" USING btree ("run_id","state");--> statement-breakpoint
CREATE INDEX "walks_batch" ON "etl"."walks" USING btree ("batch","feed");--> statement-breakpoint
CREATE INDEX "walks_feed" ON "etl"."walks" USING btree ("feed","id");--> statement-breakpoint
CREATE INDEX "walks_started" ON "etl"."walks" USING btree ("feed","started_at");--> statement-breakpoint
CREATE INDEX "walks_as_of" ON "etl"."walks" USING btree ("feed","as_of");--> statement-breakpoint
CREATE INDEX "walks_top" ON "etl"."walks" USING btree ("feed","top");--> statement-breakpoint
CREATE INDEX "walks_finished" ON "etl"."walks" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "walks_to_end" ON "etl"."walks" USING btree ("feed","bottom","id") WHERE state = 'finished' and reason is null;--> statement-breakpoint
CREATE INDEX "walks_backfill" ON "etl"."walks" USING btree ("feed","id") WHERE lane = 'backfill';--> statement-breakpoint
CREATE INDEX "walks_entered" ON "etl"."walks" USING btree ("feed") WHERE not from_head;--> statement-breakpoint
CREATE INDEX "walks_since" ON "etl"."walks" USING btree ("feed") WHERE reason = 'since';--> statement-breakpoint
CREATE INDEX "bundles_block_number" ON "explorer"."bundles" USING btree ("chain_id","block_number","transaction_hash","bundle_index");--> statement-breakpoint
CREATE INDEX "bundles_timestamp" ON "explorer"."bundles" USING btree ("timestamp" DESC NULLS FIRST,"chain_id");--> statement-breakpoint
CREATE INDEX "bundles_page" ON "explorer"."bundles" USING brin ("page_id") WITH (autosummarize=true);
--> statement-breakpoint
-- Below: what tables.ts cannot declare.
alter table etl.incarnations set unlogged;
--> statement-breakpoint
-- By themselves these are vacuumed when they have grown by a fifth: until then a count of the newest rows reads
-- each of them, not their index alone (docs/decisions/0012-growth.md).
alter table explorer.user_operations set (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
--> statement-breakpoint
alter table explorer.blocks set (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
--> statement-breakpoint
insert into etl.rollups (name)
values ('operation_days'), ('sender_sums'), ('block_days'), ('batch_sums');
--> statement-breakpoint
-- Relations for tools that read them from the catalog. Where they can't be had for nothing there are none: a
-- key that is enforced would cost each row a lookup, and order what is written.
do $$
declare
  relation record;
begin
  if current_setting('server_version_num')::int < 180000 then
    return;
  end if;
  for relation in
    select * from (values
      ('user_operations', 'address_hash', 'addresses', 'hash'),
      ('user_operations', 'entry_point_hash', 'addresses', 'hash'),
      ('blocks', 'miner_hash', 'addresses', 'hash'),
      ('blocks', 'optimism_batch_number', 'read_batches', 'batch_number'),
      ('block_rewards', 'address_hash', 'addresses', 'hash'),
      ('factories', 'address_hash', 'addresses', 'hash'),
      ('bundles', 'bundler_hash', 'addresses', 'hash'),
      ('bundlers', 'address_hash', 'addresses', 'hash'),
      ('paymasters', 'address_hash', 'addresses', 'hash'),
      ('listed_batches', 'batch_number', 'read_batches', 'batch_number'),
      ('user_operations', null, 'chains', null),
      ('blocks', null, 'chains', null),
      ('factories', null, 'chains', null),
      ('bundles', null, 'chains', null),
      ('bundlers', null, 'chains', null),
      ('paymasters', null, 'chains', null),
      ('listed_batches', null, 'chains', null),
      ('read_batches', null, 'chains', null),
      ('block_reorgs', null, 'chains', null),
      ('addresses', null, 'chains', null)
    ) as declared (table_name, column_name, other, other_column)
  loop
    execute format(
      'alter table explorer.%I add constraint %I foreign key (%s) references explorer.%I (%s) not enforced',
      relation.table_name, concat_ws('_', relation.table_name, coalesce(relation.column_name, 'chain')),
      concat_ws(', ', 'chain_id', relation.column_name),
      relation.other, concat_ws(', ', 'chain_id', relation.other_column)
    );
  end loop;
end
$$;
