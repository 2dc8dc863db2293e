create or replace view etl.batch_findings as
select chain_id, feed, numbers, finding from etl.batch_state_findings
union all
select chain_id, feed, numbers, finding from etl.block_findings;

comment on view etl.batch_findings is 'Each thing that keeps a feed of batches from being complete: what is not read or verified, and verified batches whose blocks are not what was read.';
