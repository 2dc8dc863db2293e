alter table etl.budget
  add column queue_at timestamptz,
  add column service_limit double precision,
  add column pause_class text,
  add column pause_reason text,
  add column daily_credits bigint,
  add column credits_day date,
  add column credits_spent bigint not null default 0;
--> statement-breakpoint
alter table etl.feeds add column look_again_at timestamptz;
--> statement-breakpoint
comment on column etl.budget.requests_per_second is 'Rate of the key, from the configuration of the process that started last. Slots are handed out at 97 % of it.';
--> statement-breakpoint
comment on column etl.budget.queue_at is 'When the last backfill request that was sent away is to ask again, by the database''s clock. Null: none was.';
--> statement-breakpoint
comment on column etl.budget.service_limit is 'Requests per second that the service''s headers stated last. The lower of this and requests_per_second holds. Null: not stated since a process started last.';
--> statement-breakpoint
comment on column etl.budget.paused_until is 'Until when no request of the key may leave, by the database''s clock. Null or past: no pause.';
--> statement-breakpoint
comment on column etl.budget.pause_class is 'Class of what paused the key: throttled, out-of-credits, unauthorized or key-missing. After all but the first, one request is let through to look before the others.';
--> statement-breakpoint
comment on column etl.budget.pause_reason is 'What the service said when the key was paused, in one line without secrets.';
--> statement-breakpoint
comment on column etl.budget.daily_credits is 'Credits that may be spent in a day (UTC) at most, from the configuration. Null: no limit of ours.';
--> statement-breakpoint
comment on column etl.budget.credits_day is 'The day (UTC, by the database''s clock) that credits_spent and credits_remaining are about.';
--> statement-breakpoint
comment on column etl.budget.credits_spent is 'Credits of the slots that were handed out on credits_day, 20 each. The service may charge less for failed requests.';
--> statement-breakpoint
comment on column etl.budget.credits_remaining is 'Credits left, as the service said last. Null: not said, or not since a process started last.';
--> statement-breakpoint
comment on column etl.budget.updated_at is 'When the key was asked for a slot last, by the database''s clock. A clock that is behind it was set back.';
--> statement-breakpoint
comment on column etl.feeds.look_again_at is 'Until when schedules do not look at a feed that the service does not serve. Null: they do.';
