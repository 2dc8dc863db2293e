import type { ResweepRule } from '../../config/settings.ts';
import type { BatchFacts, BatchPoint, CensusFacts, ListFacts } from './facts.ts';

/** A number of requests and what it rests on. */
export interface Estimate {
  /** Null: unknown until something was read. */
  readonly requests: number | null;
  /** Whether it may well be fewer, but hardly more. */
  readonly isAtMost: boolean;
  readonly basis: string;
}

const none = (basis: string): Estimate => ({ requests: 0, isAtMost: false, basis });
const unknown = (basis: string): Estimate => ({ requests: null, isAtMost: false, basis });

const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
const halfPage = 0.5;

/**
 * No chain has an older user operation: the first entry point of ERC-4337 that the service lists was
 * deployed on that day.
 */
const firstOperationAt = Date.UTC(2023, 2, 1);

/** What is left of a list's history. */
export function listHistory(
  { isBegun, gaps, itemsPerBlock, blockMs }: ListFacts,
  { pageSize, since }: { readonly pageSize: number; readonly since: string | null },
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
    const isOpenEnded = from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
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
    readonly looksPerDay: number;
    readonly resweeps: readonly ResweepRule[];
  },
): Estimate {
  const { pageSize, overlapMs, looksPerDay, resweeps } = settings;
  if (!isBegun) return unknown('nothing was read yet');
  const pagesPerDay = (itemsPerDay ?? 0) / pageSize;
  const pagesPerLook = pagesPerDay * (1 / looksPerDay + overlapMs / dayMs);
  // A look ends when it has gone past what is known: in the middle of a page, or on its first one.
  const looks = looksPerDay * Math.max(1, pagesPerLook + halfPage);
  const again = resweeps.reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  const parts = [
    `${round(looksPerDay)} looks of ${round(Math.max(1, pagesPerLook + halfPage))} requests`,
    ...(again > 0 ? [`${round(again * pagesPerDay)} for deeper looks`] : []),
  ];
  return {
    requests: Math.ceil(looks + again * pagesPerDay),
    isAtMost: false,
    basis: `${parts.join(', ')}; ${round(itemsPerDay ?? 0)} operations a day`,
  };
}

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

/** Numbers that a look tries where the one above the newest batch was new. */
const looksAtNews = 3;

/** What it takes a day to follow the newest batches. */
export function batchUpkeep(
  facts: BatchFacts,
  settings: {
    readonly looksPerDay: number;
    readonly reread: number;
    readonly to: number | null;
    readonly pageSize: number;
  },
): Estimate {
  const { looksPerDay, reread, to, pageSize } = settings;
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
  const looks = looksPerDay + Math.min(looksPerDay, newPerDay) * (looksAtNews - 1);
  const pages = pagesOf(blocks, facts, pageSize);
  return {
    requests: Math.ceil(looks + newPerDay * pages + looksPerDay * reread),
    isAtMost: true,
    basis: `${round(looks)} looks, ${round(newPerDay)} new batches of ${round(pages)} requests, ${round(looksPerDay * reread)} for \`reread\` at most`,
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

/** The first census, where none was finished. */
export function censusHistory({ requests }: CensusFacts): Estimate {
  return requests === null
    ? unknown('no census was finished yet; the list says nothing of its length')
    : none('a census was finished');
}

/** What the censuses of a day take. */
export function censusUpkeep({ requests }: CensusFacts, looksPerDay: number): Estimate {
  if (requests === null) return unknown('no census was finished yet');
  return {
    requests: Math.ceil(looksPerDay * requests),
    isAtMost: false,
    basis: `${round(looksPerDay)} censuses of ${round(requests)} requests`,
  };
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const round = (value: number) => (Math.abs(value) < 10 ? fine : whole).format(value);
