import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { findingText } from '../../src/status/findings.ts';
import { recountCoverage, type VerifiedFeed } from '../../src/status/verify.ts';

/** Makes coverage what a ledger says that a test has written or changed. */
export const recount = (pool: Pool) => recountCoverage(drizzle(pool));

/** What is verified of a feed, with its findings as the sentences that people read. */
export const inWords = (feed: VerifiedFeed) => ({
  ...feed,
  head: feed.notes.filter(({ kind }) => kind === 'pending-head').map(findingText),
  open: feed.open.map(findingText),
  notes: feed.notes.filter(({ kind }) => kind !== 'pending-head').map(findingText),
});

/** What is open of feeds, as the sentences that people read. */
export const openInWords = (feeds: readonly VerifiedFeed[]): string[] =>
  feeds.flatMap((feed) => inWords(feed).open);
