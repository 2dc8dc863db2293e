create or replace view explorer.cohorts as
select chain_id, begun as cohort, first_day as month, senders
from etl.active_senders
where unit = 'month' and first_day > '-infinity' and senders > 0;

comment on view explorer.cohorts is 'Senders of user operations of each chain and month, by the month of their first stored operation. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.cohorts.chain_id is 'Number of the chain.';
comment on column explorer.cohorts.cohort is 'First day of the month of their first stored operation, UTC: see explorer.history.';
comment on column explorer.cohorts.month is 'First day of the month in which they sent operations, UTC.';
comment on column explorer.cohorts.senders is 'How many they are, each once.';
