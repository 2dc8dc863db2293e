create or replace view etl.table_questions as
select split_part(items, '.', 2) as table_name,
       array[format('Which %s are largest?', operation), format('Which %s have left the list?', operation)] as questions
from etl.lists
where kind = 'ranked'
union all
select split_part(history, '.', 2),
       array[format('When did the counts of %s change?', operation), format('Which %s are new this week?', operation)]
from etl.lists
where kind = 'ranked'
union all
values
  ('address_implementations', array['Which addresses share an implementation?', 'How many proxies have more than one?']),
  ('address_labels', array['Which addresses have a public label?', 'Which labels do the largest senders have?']),
  ('address_metadata_tags', array['Which addresses are tagged as a protocol?', 'Which tag has the greatest weight of each address?']),
  ('address_watchlist_names', array['Which addresses does the owner of the key watch?', 'Which of them sent operations?']),
  ('addresses', array['Which senders are verified contracts?', 'Which kinds of proxies are there, and how many of each?']),
  ('batch_stats', array['How long do batches take to reach L1?', 'Which batches were fullest?']),
  ('block_arbitrum', array['How many blocks of a batch are confirmed on L1?', 'Which blocks brought delayed messages?']),
  ('block_reorgs', array['Which blocks were replaced, and when was that seen?', 'How many blocks a day were replaced?']),
  ('block_rewards', array['Who was rewarded for blocks, and how much?', 'Which types of rewards are there?']),
  ('block_uncles', array['How many uncles do blocks have?', 'Which block names an uncle?']),
  ('blocks', array['How much gas did blocks use in the last hour?', 'Which block was the largest of a batch?']),
  ('broken_borders', array['Between which batches does the chain not meet?', 'Is that because one of them is older?']),
  ('bundles', array['Which bundlers bring most operations?', 'Which transactions hold several bundles?']),
  ('bundles_daily', array['How many bundles were there each day?', 'How many bundlers were at work each day?']),
  ('bundles_enriched', array['Who sent the bundles of a day?', 'In which bundles is no time reported?']),
  ('chain_daily', array['How many blocks and transactions were there each day?', 'How much was burnt each week?']),
  ('chains', array['Which chains are copied?', 'In which currency does each chain count fees?']),
  ('cohorts', array['How many accounts of a month came back in the later ones?', 'How many accounts began each month?']),
  ('coverage', array['What is complete of a list, and as of when?', 'Back to which day can a chart be trusted?']),
  ('credits', array['What was spent today?', 'Is a key paused, and why?']),
  ('dictionary', array['Which columns hold wei?', 'What does a column mean when it is null?']),
  ('factory_daily', array['How did the accounts of a factory grow?', 'Which factory grew most in a week?']),
  ('fees_daily', array['What did the median operation cost each day?', 'On which days did fees rise?']),
  ('findings', array['What keeps a list from being complete, and what fixes it?', 'Which batches contradict their blocks?']),
  ('freshness', array['How current is each list?', 'Which lists miss their objective now?']),
  ('gaps', array['What is missing, and between which times?', 'Which lists were never read?']),
  ('history', array['Back to when is a list complete?', 'May a sender be called new?']),
  ('late_arrivals', array['Which operations appeared late, and how late?', 'On which days was the explorer behind?']),
  ('listed_batches', array['When was a batch posted to L1?', 'Which batches are in blobs?']),
  ('operations_daily', array['How many operations were there each day, and how many failed?', 'How fast does one version of the entry point replace another?']),
  ('operations_enriched', array['Which operations cost most yesterday?', 'Which entry points does a sender use?']),
  ('operations_monthly', array['How many accounts were active each month?', 'What did a month of operations cost?']),
  ('operations_weekly', array['How many accounts were active each week?', 'Which chain grew most in a week?']),
  ('optimism_batch_l1_transactions', array['Which L1 transactions posted a batch?', 'Which batches needed more than one?']),
  ('optimism_batches', array['Which batches are not settled yet, and why?', 'How far behind L1 are the blocks of a batch?']),
  ('provenance', array['Why is this row here?', 'Which request brought it, and when?']),
  ('quarantine', array['What could not become rows, and why?', 'Which blocks lack an item?']),
  ('read_batches', array['Which batches are verified whole?', 'Which batches are empty?']),
  ('refreshed', array['Up to when are the daily tables?', 'Is there more to sum up?']),
  ('sender_kinds_daily', array['How many operations did EIP-7702 accounts send each day?', 'Which kind of wallet fails most?']),
  ('senders', array['Who sends most operations?', 'How many senders were new this week?']),
  ('suggested_overlap', array['How far back should each poll look?', 'How late do operations arrive?']),
  ('suggested_resweeps', array['Which deeper polls would have caught late arrivals?', 'What would they cost?']),
  ('user_operations', array['What happened in a transaction?', 'Which operations left the list?']);

comment on view etl.table_questions is 'Two questions that each table or view of schema explorer answers.';
