import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { printable } from '../printable.ts';
import { feedName, type Feed } from '../lists/feed.ts';

/** Where a configuration has pages come from. */
export interface Source {
  readonly origin: string;
  /** Whether a person says that another explorer's data, where there is some, is the same. */
  readonly isSameData: boolean;
}

/** What of an explorer's URL tells its data from another's; never a key, a user or a query. */
export function originOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/u, '')}`;
}

/**
 * The data of some feeds came from elsewhere. What another service says of a chain may be another
 * chain's: its walks would prove history that was never read, and nothing could tell the rows apart.
 */
export class OriginError extends Error {
  override readonly name = 'OriginError';
}

interface ClaimedFeed extends Record<string, unknown> {
  readonly feed: string;
  readonly origin: string;
}

/**
 * Takes an explorer for the one that feeds are read from, and remembers it. The feeds stay locked until
 * the transaction ends, so that none is asked for a page in between. Whoever reads them from elsewhere
 * is fenced.
 *
 * @throws OriginError where a feed has pages of another explorer, unless the source says that they agree
 */
export async function claimFeeds(
  tx: Transaction,
  feeds: readonly Feed[],
  { origin, isSameData }: Source,
): Promise<void> {
  const { rows } = await tx.execute<ClaimedFeed & { has_pages: boolean }>(sql`
    select feed, origin, exists (
      select from etl.walks where walks.feed = feeds.feed and pages > 0
    ) as has_pages
    from etl.feeds
    where feed = any(${sql.param(feeds.map(feedName))}::text[]) and origin is distinct from ${origin}
    order by chain_id, operation
    for no key update
  `);
  const others = rows.filter((feed) => feed.has_pages && feed.origin !== null);
  if (others.length > 0 && !isSameData) throw new OriginError(refusal(others, origin));
  if (rows.length === 0) return;
  const names = sql.param(rows.map(({ feed }) => feed));
  await tx.execute(sql`
    update etl.feeds set origin = ${origin}, updated_at = now() where feed = any(${names}::text[])
  `);
  await tx.execute(sql`
    update etl.walks set revision = revision + 1 where feed = any(${names}::text[]) and state = 'running'
  `);
}

/** What a person is told: which feeds, where their data came from, and what to do. */
function refusal(others: readonly ClaimedFeed[], origin: string): string {
  const origins = [...new Set(others.map((feed) => feed.origin))];
  const told = origins.map((from) => {
    const feeds = others.filter((feed) => feed.origin === from).map(({ feed }) => feed);
    return `the data of ${feeds.join(', ')} came from ${printable(from)}`;
  });
  return `${told.join('; ')}; the explorer is now ${printable(origin)}. Set EXPLORER_BASE_URL or explorer.base_url as it was, use another database, or say with --same-data, once, that both serve the same chains.`;
}

/**
 * As SQL: whether a feed, a row of `feeds`, is another explorer's than the one that this process asks.
 * One that was never claimed is anybody's.
 */
export const isElsewhere = (origin: string) => sql`coalesce(feeds.origin <> ${origin}, false)`;
