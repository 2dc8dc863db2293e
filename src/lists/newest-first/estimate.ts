import { dayMs, halfPage, none, round, unknown } from '../estimates.ts';
import type { ListUnit } from '../../operations/operation.ts';
import type { Estimate } from '../list.ts';
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
  if (!isBegun) return unknown('nothing was read yet');
  if (gaps.length === 0) return none('all of it is covered');
  if (itemsPerBlock === null) return unknown('too little was read to tell how dense the list is');
  let items = 0;
  const reaches = new Set<string>();
  for (const { from, to, endsAt } of gaps) {
    const blocks = to - from + 1;
    const [limit, reach] =
      since === null
        ? [firstOperationAt, 'back to 2023-03-01, before which no chain had any']
        : [Date.parse(since), `back to ${since}`];
    // Batches are numbered from the first one on: that there are none below 0 is bound enough.
    const isBounded = since !== null || unit === 'blocks';
    const isOpenEnded =
      isBounded && from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
    if (isOpenEnded) reaches.add(reach);
    items += itemsPerBlock * (isOpenEnded ? blocksSince(limit, endsAt, blockMs, blocks) : blocks);
  }
  const holes = gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`;
  return {
    requests: Math.ceil(items / pageSize + gaps.length * halfPage),
    isAtMost: since === null && reaches.size > 0,
    basis: [`${holes}, as dense as what was read so far`, ...reaches].join(', '),
  };
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
  if (!isBegun) return unknown('nothing was read yet');
  const pagesPerDay = (itemsPerDay ?? 0) / pageSize;
  const pagesPerPoll = pagesPerDay * (1 / pollsPerDay + overlapMs / dayMs);
  // A poll ends when it has gone past what is known: in the middle of a page, or on its first one.
  const polls = pollsPerDay * Math.max(1, pagesPerPoll + halfPage);
  const again = resweeps.reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  const parts = [
    `${round(pollsPerDay)} polls of ${round(Math.max(1, pagesPerPoll + halfPage))} requests`,
    ...(again > 0 ? [`${round(again * pagesPerDay)} for deeper polls`] : []),
  ];
  return {
    requests: Math.ceil(polls + again * pagesPerDay),
    isAtMost: false,
    basis: `${parts.join(', ')}; ${round(itemsPerDay ?? 0)} items a day`,
  };
}
