import { dayMs, halfPage, none, round, unknown } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { BatchFacts, BatchPoint } from './facts.ts';

/** What is left of the batches of a range. */
export function batchHistory(
  facts: BatchFacts,
  range: { readonly from: number; readonly to: number | null; readonly pageSize: number },
): Estimate {
  const high = range.to ?? facts.frontier;
  if (high === null) return unknown('the newest batch was not searched yet');
  const numbers = Math.max(0, high - range.from + 1);
  const unread = Math.max(0, numbers - facts.read);
  if (unread === 0) return none(`all ${round(numbers)} batches are read`);
  const usual = blocksPerNumber(facts, facts.lowest);
  if (usual === null) {
    return unknown(`${round(unread)} batches, usually of 3 to 29 requests each; none was read yet`);
  }
  // What is left of the blocks that must be there, but never far from what is usual.
  const rest = (usual * numbers - facts.blocks) / unread;
  const blocks = Math.min(Math.max(rest, usual / 2), usual * 2);
  const pages = pagesOf(blocks, facts, range.pageSize);
  return {
    requests: Math.ceil(unread * pages),
    isAtMost: false,
    basis: `${round(unread)} batches of about ${round(blocks)} blocks, ${round(pages)} requests each`,
  };
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
  if (to !== null) return none('the range ends at to_batch');
  const below = facts.recent ?? facts.lowest;
  const blocks = blocksPerNumber(facts, below);
  const { highest } = facts;
  if (blocks === null || highest === null || below === null) {
    return unknown('no batches were read yet');
  }
  if (highest.at === null || below.at === null || highest.at <= below.at) {
    return unknown('too few batches were read to tell how often one comes');
  }
  const newPerDay = ((highest.batch - below.batch) * dayMs) / (highest.at - below.at);
  const polls = pollsPerDay + Math.min(pollsPerDay, newPerDay) * (pollsAtNews - 1);
  const pages = pagesOf(blocks, facts, pageSize);
  return {
    requests: Math.ceil(polls + newPerDay * pages + pollsPerDay * reread),
    isAtMost: true,
    basis: `${round(polls)} polls, ${round(newPerDay)} new batches of ${round(pages)} requests, ${round(pollsPerDay * reread)} for \`reread\` at most`,
  };
}

/** Blocks per number, holes among them, between a point and the highest; null: not known. */
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
