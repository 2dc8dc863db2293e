create or replace view explorer.credits as
select credits_day as day, credits_spent as spent,
       case when not is_refused then credits_remaining end as remaining,
       daily_credits as daily_limit, requests_per_second, requests,
       case when is_paused then paused_until end as paused_until,
       case when is_paused or is_refused then pause_class end as pause_class
from etl.budget, lateral (
  select coalesce(paused_until > now(), false) as is_paused,
         coalesce(pause_class in ('unauthorized', 'key-missing'), false) as is_refused
) as state;

comment on view explorer.credits is 'What each API key has spent on the day on which it was last used, without the key itself.';
comment on column explorer.credits.day is 'The day, UTC. Null: the key was not used yet.';
comment on column explorer.credits.spent is 'Credits spent on that day, 20 for each request.';
comment on column explorer.credits.remaining is 'Credits left, as the service said last; below zero while it serves the key beyond them. Null: not said, or refused.';
comment on column explorer.credits.daily_limit is 'Credits that may be spent in a day, as configured. Null: no limit.';
comment on column explorer.credits.requests_per_second is 'Rate of the key, as configured.';
comment on column explorer.credits.requests is 'Requests so far, failed ones and repeats included.';
comment on column explorer.credits.paused_until is 'When the key''s pause ends, unless a test ends it. Null: no pause.';
comment on column explorer.credits.pause_class is 'What paused it: throttled, out-of-credits, unauthorized or key-missing. Null: nothing has.';
