create or replace function etl.reads_again(later etl.walks, item etl.quarantine) returns boolean
language sql stable
return case later.kind
  when 'newest-first' then later.verified @> int8range(item.from_block, item.to_block, '[]')
  when 'numbered' then later.reason is null and later.batch = (item.scope ->> 'batch')::bigint
  when 'ranked' then later.reason is null
end;

create or replace view etl.item_notes as
select item.feed, jsonb_build_object('detail', 'items-dropped', 'count', count(*)) as note
from etl.quarantine as item
join etl.pages as served on served.id = coalesce(item.last_page_id, item.page_id)
where item.dropped_at is not null
  and not exists (
    select from etl.walks as later
    where later.feed = item.feed
      and later.state = 'finished'
      and later.id > served.walk_id
      and etl.reads_again(later, item)
  )
group by item.feed
union all
select feed, jsonb_build_object(
         'detail', detail, 'count', count(*), 'items', to_jsonb((array_agg(item order by item))[:4])
       )
from (
  select feed,
         case kind
           when 'field' then 'new-field'
           when 'vanished' then 'vanished-field'
           when 'type' then 'mistyped-field'
           when 'format' then 'malformed-field'
           when 'value' then 'new-value'
           else kind
         end as detail,
         case
           when kind in ('type', 'format') then path || ' (' || detail || ')'
           when kind = 'value' then path || ' ' || to_jsonb(detail)::text
           else path
         end as item
  from etl.drift
) as difference
group by feed, detail;

comment on function etl.reads_again is 'Whether a walk read the position of an item in quarantine.';
comment on view etl.item_notes is 'Notes on the items of a feed: how many were dropped, unless a walk that began after the last page that served one read its place without it; and how items differ from the specification, with four examples each.';
