import { sql } from 'drizzle-orm';

/** How a feed, a row of `feeds`, differs from the specification: a JSON list of notes. */
export const driftNotes = sql`
  select jsonb_agg(
    case kind
      when 'field' then jsonb_build_object('kind', 'new-field')
      when 'vanished' then jsonb_build_object('kind', 'vanished-field')
      when 'type' then jsonb_build_object('kind', 'mistyped-field', 'type', detail)
      when 'format' then jsonb_build_object('kind', 'malformed-field', 'expected', detail)
      when 'value' then jsonb_build_object('kind', 'new-value', 'value', detail)
      else jsonb_build_object('kind', kind)
    end || jsonb_build_object(
      'path', path, 'occurrences', occurrences, 'first_page_id', first_page_id
    )
    order by path, kind, detail
  )
  from etl.drift
  where drift.feed = feeds.feed
`;
