import { sql } from 'drizzle-orm';

/**
 * What was found just now, the addresses among it, and the pages that brought the rows of those
 * moments, each with its walk. As common table expressions.
 */
export const places = sql`
  found as materialized (
    select * from etl.damage where found_at = now()
  ), lost as materialized (
    select distinct chain_id, coalesce(key ->> 'hash', key ->> 'address_hash') as hash
    from found
    where table_name like 'explorer.address%' and key is not null
  ), told as (
    select first_page_id, last_page_id from found where first_page_id is not null
    union
    select noted.first_page_id, noted.last_page_id
    from found
    join etl.row_counts as noted using (chain_id, table_name, first_seen_at)
    where noted.first_page_id is not null
  ), page as materialized (
    select distinct pages.id, walks.chain_id, walks.operation, walks.feed, walks.batch, pages.top, pages.bottom
    from told
    join etl.pages as edge on edge.id in (first_page_id, last_page_id)
    join etl.pages
      on pages.walk_id = edge.walk_id and pages.id between first_page_id and last_page_id
    join etl.walks on walks.id = pages.walk_id
    where pages.rows > 0
  )
`;
