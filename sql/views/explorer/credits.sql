create or replace view explorer.credits as
select credits_day as day, credits_spent as spent, credits_remaining as remaining,
       daily_credits as daily_limit, requests_per_second, requests, paused_until, pause_class
from etl.budget;

comment on view explorer.credits is 'What each API key has spent on the day on which it was last used; a row for each key; the key itself is not shown.';
comment on column explorer.credits.day is 'The day, UTC. Null: the key was not used yet.';
comment on column explorer.credits.spent is 'Credits spent on that day, 20 for each request.';
comment on column explorer.credits.remaining is 'Credits left, as the service said last; below zero while it serves the key beyond them. Null: not said.';
comment on column explorer.credits.daily_limit is 'Credits that may be spent in a day, as configured. Null: no limit of ours.';
comment on column explorer.credits.requests_per_second is 'Rate of the key, as configured.';
comment on column explorer.credits.requests is 'Requests so far, failed ones and repeats included.';
comment on column explorer.credits.paused_until is 'Until when no request of the key may leave. Null or past: no pause.';
comment on column explorer.credits.pause_class is 'What paused it: throttled, out-of-credits, unauthorized or key-missing. Null: nothing has.';
