/** A feed's name, and its parts for programs that would have to take it apart. */
export function feedOf(feed: string): {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
} {
  const [chain = '', operation = ''] = feed.split('/');
  return { feed, chain_id: Number(chain), operation };
}
