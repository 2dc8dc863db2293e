create or replace view etl.finding_kinds as
select kind, detail, remedy, sentence
from (values
  ('gap', 'not-downloaded', 'repair', 'not downloaded'),
  ('gap', 'no-batch-found', 'sync', 'the newest batch is not found yet'),
  ('gap', 'listed-without-blocks', 'sync', 'listed, but without blocks'),
  ('unverified', 'no-evidence', 'repair', 'nothing is verified'),
  ('unverified', 'no-coverage', 'repair', 'nothing is verified: no range is covered yet'),
  -- No read batch is open: `sync` has to find one.
  ('unverified', 'no-verified-batch', 'sync', 'nothing is verified: no batch is verified yet'),
  ('unverified', 'no-snapshot', 'repair', 'nothing is verified: no full snapshot yet'),
  ('unverified', 'empty-unconfirmed', 'repair', 'downloaded as empty, which no neighbour confirms'),
  ('unverified', 'not-linked', 'repair', 'heights or hashes inside do not link'),
  ('unverified', 'border-not-linked', 'repair', 'heights or hashes do not link at the border'),
  ('unverified', 'awaits-update', 'repair', '{# block} to be updated by the service'),
  ('unverified', 'without-parents', 'repair', '{# block} without a parent hash'),
  ('unverified', 'ends-early', 'repair', 'the list ended above the lowest block'),
  ('unverified', 'never-read-whole', 'repair', 'never read in order and to the end'),
  ('unverified', 'not-verified', 'repair', 'not confirmed by the batches around'),
  ('unverified', 'head-not-verified', 'repair', 'none of them is verified'),
  ('unverified', 'head-too-long', 'repair', '{count} not verified above the highest verified one'),
  ('unverified', 'verified-awaits-update', 'repair', 'verified, but {# block} to be updated by the service'),
  ('mismatch', 'block-count-differs', 'repair', '{# block} stored, {downloaded} downloaded'),
  ('mismatch', 'block-range-differs', 'repair', 'blocks {stored} stored, {read} downloaded'),
  ('mismatch', 'verified-not-linked', 'repair', '{# block} not linked to the one below, though verified before'),
  ('mismatch', 'listed-range-differs', 'repair', 'blocks {read} downloaded, {listed} in the list of batches'),
  ('mismatch', 'listed-not-empty', 'repair', 'downloaded as empty, blocks {listed} in the list of batches'),
  ('mismatch', 'totals-differ', 'repair', 'stored totals differ from the walks'),
  ('quarantine', 'quarantine', 'quarantine list', '{# item} in quarantine'),
  -- The reason says what is wrong and what to do; a successful run removes it.
  ('feed-state', 'feed-fails', 'sync', '{state}'),
  ('feed-state', 'feed-waits', null, '{state}'),
  ('feed-state', 'feed-unanswered', 'check', '{state}'),
  ('feed-state', 'feed-without-credits', 'plan', '{state}'),
  ('feed-state', 'feed-not-stored', 'check --no-requests', '{state}'),
  ('feed-state', 'feed-outage', 'check', '{outage}'),
  ('pending-head', 'waits-for-blocks', null, 'waiting for the rest of the blocks'),
  ('pending-head', 'waits-for-update', null, 'waiting for an update by the service'),
  ('pending-head', 'waits-for-lowest-blocks', null, 'waiting for a second read of the lowest blocks'),
  ('pending-head', 'waits-for-next-batch', null, 'waiting for the next batch'),
  ('schema-drift', 'new-field', null, '{# unknown field} stored in extra: {items}'),
  ('schema-drift', 'vanished-field', null, '{# field} missing from every item: {items}'),
  ('schema-drift', 'mistyped-field', null, '{# field} of another type, stored in extra unless null: {items}'),
  ('schema-drift', 'malformed-field', null, '{# field} of another format, stored in extra: {items}'),
  ('schema-drift', 'new-value', null, '{# unknown value} stored as it is: {items}'),
  ('caveat', 'rows-moved', null, 'rows still moved in the last of {# read}: one that moved up may be missing'),
  ('caveat', 'part-skipped', null, 'an empty page skipped a part: the previous snapshot stays'),
  ('caveat', 'empty-list', null, 'the list was empty: the previous snapshot stays'),
  ('caveat', 'items-dropped', null, 'not stored: at least {# item}, dropped from quarantine'),
  ('caveat', 'lower-edge', null, 'complete; lower edge unverified (previous batch not downloaded)'),
  ('caveat', 'lower-edge-above-empty', null,
    'complete; lower edge unverified (previous batch not downloaded); {# empty number} below, not confirmed')
) as known(kind, detail, remedy, sentence);

create or replace function etl.whole_text(number numeric) returns text
language sql immutable return to_char(number, 'FM999,999,999,999,999,999,990');

create or replace function etl.part_text(part jsonb, count bigint) returns text
language sql immutable
return case jsonb_typeof(part)
  when 'number' then etl.whole_text(part::numeric)
  when 'string' then part #>> '{}'
  when 'array' then (
    select string_agg(
             case jsonb_typeof(item) when 'number' then etl.whole_text(item::numeric) else item #>> '{}' end,
             case jsonb_typeof(part -> 0) when 'number' then ' to ' else ', ' end order by place
           )
    from jsonb_array_elements(part) with ordinality as listed(item, place)
  ) || case when count > jsonb_array_length(part) and jsonb_typeof(part -> 0) <> 'number'
         then ' and ' || etl.whole_text(count - jsonb_array_length(part)) || ' more' else '' end
  else 'none'
end;

create or replace function etl.finding_sentence(template text, finding jsonb) returns text
language sql immutable
return (
  select string_agg(
    case
      when part[1] is not null then part[1]
      when part[2] is null then etl.part_text(finding -> part[3], (finding -> 'count')::bigint)
      else etl.whole_text((finding -> 'count')::numeric) || ' ' || part[3]
        || case when finding -> 'count' = '1' then '' else 's' end
    end, '' order by place
  )
  from regexp_matches(template, '([^{]+)|\{(# )?([^}]+)\}', 'g') with ordinality as token(part, place)
);

comment on view etl.finding_kinds is 'Each detail of a finding: its kind, the command that fixes or lists it, and its sentence, which follows the place. {part} is a part of the finding by its name, {# noun} its count.';
comment on function etl.whole_text is 'A whole number with its thousands separated, as people read it.';
comment on function etl.part_text is 'A number, a range or none, the first of count names, or a text.';
comment on function etl.finding_sentence is 'The sentence of a finding: its parts in the places of a template.';
