import { none, round, unknown } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { RankingFacts } from './facts.ts';

/** The first ranking, where none was published. */
export function rankingHistory({ requests }: RankingFacts): Estimate {
  return requests === null
    ? unknown('no ranking was published yet; the list says nothing of its length')
    : none('a ranking was published');
}

/** What the rankings of a day take. */
export function rankingUpkeep({ requests }: RankingFacts, pollsPerDay: number): Estimate {
  if (requests === null) return unknown('no ranking was published yet');
  return {
    requests: Math.ceil(pollsPerDay * requests),
    isAtMost: false,
    basis: `${round(pollsPerDay)} rankings of ${round(requests)} requests`,
  };
}
