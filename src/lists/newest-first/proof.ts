import { sql } from 'drizzle-orm';
import type { ListCoverage } from '../list.ts';

const shows = sql`exists (
  select from etl.feed_coverage
  where feed_coverage.feed = feeds.feed and (covered <> '{}' or reached_since is not null)
) or exists (
  select from etl.walks
  where walks.feed = feeds.feed
    and walks.state = 'finished'
    and walks.reason is null
    and walks.items <= 1
    and walks.cuts = 0
)`;

/**
 * A list that is newest first is verified by pages that went past blocks, down to `since` or the end, or
 * by an end at which it was empty, or held one item, which nothing else confirms.
 */
export const proof: ListCoverage = {
  shows,
  lacks: 'no-coverage',
  by: 'ranges',
  covered: sql`
    select json_agg(
      json_build_object(
        'from', from_block, 'to', to_block, 'as_of', as_of, 'newest_as_of', newest_as_of
      )
      order by from_block
    )
    from etl.proved_ranges
    where proved_ranges.feed = feeds.feed
  `,
  notes: sql`select null::jsonb`,
  findings: sql`
    select feed, jsonb_build_object(
      'detail', 'not-downloaded', 'from', lower(gap), 'to', upper(gap) - 1
    ) as finding
    from etl.feed_gaps
  `,
  readsAgain: sql`later.proved @> int8range(item.from_block, item.to_block, '[]')`,
};
