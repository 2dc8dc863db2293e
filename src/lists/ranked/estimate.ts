import { none, round, unknown } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { CensusFacts } from './facts.ts';

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
