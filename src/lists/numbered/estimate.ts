import { about, atLeast, dayMs, halfPage, none, upTo } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { BatchFacts, BatchPoint } from './facts.ts';

/** Pages of a batch, as chains have them (docs/api-costs.md). */
const usualPages = { least: 3, most: 29 };

/** What is left of the batches of a range. */
export function batchHistory(
  facts: BatchFacts,
  range: { readonly from: number; readonly to: number | null; readonly pageSize: number },
): Estimate {
  const high = range.to ?? facts.frontier;
  if (high === null) return atLeast(1);
  const numbers = Math.max(0, high - range.from + 1);
  const unread = Math.max(0, numbers - facts.read);
  if (unread === 0) return none;
  const usual = blocksPerNumber(facts, facts.lowest);
  if (usual === null) return upTo(unread * usualPages.least, unread * usualPages.most);
  // What is left of the blocks that must be there, but never far from what is usual.
  const rest = (usual * numbers - facts.blocks) / unread;
  const blocks = Math.min(Math.max(rest, usual / 2), usual * 2);
  return about(unread * pagesOf(blocks, facts, range.pageSize));
}

/** Numbers that a poll tries where the one above the newest batch was new. */
const pollsAtNews = 3;

/** What it takes a day to follow the newest batches. */
export function batchUpkeep(
  facts: BatchFacts,
  settings: {
    readonly pollsPerDay: number;
    readonly reread: number;
    readonly to: number | null;
    readonly pageSize: number;
  },
): Estimate {
  const { pollsPerDay, reread, to, pageSize } = settings;
  if (to !== null) return none;
  const below = facts.recent ?? facts.lowest;
  const blocks = blocksPerNumber(facts, below);
  const { highest } = facts;
  if (blocks === null || highest === null || below === null) {
    return atLeast(pollsPerDay);
  }
  if (highest.at === null || below.at === null || highest.at <= below.at) {
    return atLeast(pollsPerDay);
  }
  const newPerDay = ((highest.batch - below.batch) * dayMs) / (highest.at - below.at);
  const polls = pollsPerDay + Math.min(pollsPerDay, newPerDay) * (pollsAtNews - 1);
  const least = polls + newPerDay * pagesOf(blocks, facts, pageSize);
  // Batches are read again only until they are verified.
  return upTo(least, least + pollsPerDay * reread);
}

/** Blocks per number, gaps among them, between a point and the highest; null: not known. */
function blocksPerNumber(
  { highest, read, blocks }: BatchFacts,
  below: BatchPoint | null,
): number | null {
  if (highest !== null && below !== null && highest.batch > below.batch) {
    return (highest.height - below.height) / (highest.batch - below.batch);
  }
  return read > 0 ? blocks / read : null;
}

const pagesOf = (blocks: number, { pageItems }: BatchFacts, pageSize: number) =>
  Math.max(1, blocks / (pageItems ?? pageSize) + halfPage);
