import { about, atLeast, dayMs, type Estimate, halfPage, likelyUpTo, none, upTo } from '../list.ts';
import type { ListUnit } from '../operation.ts';
import type { ListFacts } from './facts.ts';
import type { ResweepRule } from './settings.ts';

/**
 * No chain has an older user operation: the first entry point of ERC-4337 that the service lists was
 * deployed on that day.
 */
export const firstOperationAt = Date.UTC(2023, 2, 1);

/** What is left of a list's history. */
export function listHistory(
  { isBegun, gaps, itemsPerBlock, blockMs }: ListFacts,
  {
    pageSize,
    since,
    unit,
  }: { readonly pageSize: number; readonly since: string | null; readonly unit: ListUnit },
): Estimate {
  if (!isBegun) return atLeast(1);
  if (gaps.length === 0) return none;
  if (itemsPerBlock === null) return atLeast(gaps.length);
  const limit = since === null ? firstOperationAt : Date.parse(since);
  // Batches are numbered from the first one on: that there are none below 0 is bound enough.
  const isBounded = since !== null || unit === 'blocks';
  let isStartKnown = true;
  let least = 0;
  let most = 0;
  for (const { from, to, endsAt, near } of gaps) {
    const blocks = to - from + 1;
    const isTimed = isBounded && from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
    const inGap = isTimed ? blocksSince(limit, endsAt, blockMs, blocks) : blocks;
    const pagesAt = (density: number) => (density * inGap) / pageSize + halfPage;
    if (from === 0 && unit === 'blocks' && (since === null || !isTimed)) {
      // The list may begin just below what was read: one page reports so.
      isStartKnown = false;
      least += Math.min(1, pagesAt(itemsPerBlock));
      most += pagesAt(itemsPerBlock);
      continue;
    }
    // History is as all that was read of it, a gap in the middle as what is around it.
    const density = from === 0 || near === null ? itemsPerBlock : near.mean;
    least += pagesAt(density);
    most += pagesAt(Math.max(density, near?.densest ?? 0));
  }
  return isStartKnown ? likelyUpTo(least, most) : upTo(least, most);
}

const blocksSince = (limit: number, endsAt: number, blockMs: number, blocks: number) =>
  Math.min(blocks, Math.max(0, endsAt - limit) / blockMs);

/** What it takes a day to keep a list current. */
export function listUpkeep(
  { isBegun, itemsPerDay }: ListFacts,
  settings: {
    readonly pageSize: number;
    readonly overlapMs: number;
    readonly pollsPerDay: number;
    readonly resweeps: readonly ResweepRule[];
  },
): Estimate {
  const { pageSize, overlapMs, pollsPerDay, resweeps } = settings;
  if (!isBegun) return atLeast(pollsPerDay);
  const pagesPerDay = (itemsPerDay ?? 0) / pageSize;
  const ofNewAndOverlap = pagesPerDay * (1 + (pollsPerDay * overlapMs) / dayMs);
  // A poll ends when it has gone past what is known: in the middle of a page, or on its first one.
  const polls = Math.max(pollsPerDay, ofNewAndOverlap + pollsPerDay * halfPage);
  const again = resweeps.reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  return about(polls + again * pagesPerDay);
}
