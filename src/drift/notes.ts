import { sql } from 'drizzle-orm';

/** How a feed, a row of `feeds`, differs from the specification: a JSON list with a line for each. */
export const driftNotes = sql`
  select coalesce(json_agg(
    case kind
      when 'field' then 'new field ' || path || ', kept in extra'
      when 'vanished' then 'field ' || path || ' is no longer told'
      when 'type' then 'field ' || path || ' came as ' || detail ||
        case detail when 'null' then ', left out' else ', kept in extra' end
      when 'format' then 'field ' || path || ' came malformed (' || detail || '), kept in extra'
      when 'value' then 'new value ' || to_json(detail) || ' of ' || path || ', kept as it is'
    end || ': ' || occurrences || ' times, first on page ' || first_page_id
    order by path, kind, detail
  ), '[]')
  from etl.drift
  where drift.feed = feeds.feed
`;
