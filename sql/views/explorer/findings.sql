create or replace view explorer.findings as
select feeds.chain_id, feeds.operation, feed, is_open, known.kind,
       case
         when placed.unit is null then null
         when from_position = to_position
           then case placed.unit when 'blocks' then 'block ' else 'batch ' end || etl.whole_text(from_position)
         else placed.unit || ' ' || etl.whole_text(from_position) || ' to ' || etl.whole_text(to_position)
       end as place,
       placed.unit, from_position, to_position,
       etl.finding_sentence(sentence, finding) as sentence,
       case when feeds.kind in ('newest-first', 'numbered', 'ranked')
         then 'explorer-etl ' || remedy || case when remedy in ('repair', 'sync', 'quarantine list')
           then ' --chain ' || feeds.chain_id || ' --operation ' || feeds.operation else '' end
       end as command,
       (finding -> 'count')::bigint as count
from etl.all_findings()
join etl.feeds using (feed)
join etl.finding_kinds as known on known.detail = finding ->> 'detail', lateral (
  select (finding -> 'from')::bigint as from_position, (finding -> 'to')::bigint as to_position,
         case when finding ? 'from' then case feeds.kind when 'numbered' then 'batches' else feeds.unit end end as unit
) as placed;

comment on view explorer.findings is 'What explorer-etl verify finds in the database, whatever feeds a configuration names: a row for each thing that keeps a feed from being complete, and for each note. Computed from every walk, batch and block, so it takes as long as verify.';
comment on column explorer.findings.chain_id is 'Number of the chain.';
comment on column explorer.findings.operation is 'Name of the operation.';
comment on column explorer.findings.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.findings.is_open is 'Whether it keeps the feed from being complete. False: it limits the completeness, or is to be known.';
comment on column explorer.findings.kind is 'gap, unverified, mismatch, quarantine or feed-state; of notes feed-state, pending-head, schema-drift or caveat. docs/operating.md explains them.';
comment on column explorer.findings.place is 'Where in the list, for people. Null: it is about all of it.';
comment on column explorer.findings.unit is 'What positions count: blocks, or batches. Null: it has no place.';
comment on column explorer.findings.from_position is 'First block, or batch. Null: it has no place.';
comment on column explorer.findings.to_position is 'Last block, or batch. Null: it has no place.';
comment on column explorer.findings.sentence is 'What it is, for people; the wording may change.';
comment on column explorer.findings.command is 'What fixes or shows it. Null: nothing to do.';
comment on column explorer.findings.count is 'How many blocks, batches, items or fields. Null: it has no number.';
