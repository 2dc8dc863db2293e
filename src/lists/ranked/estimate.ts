import { about, atLeast, none } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { RankingFacts } from './facts.ts';

/** The first ranking, where none was published. */
export const rankingHistory = ({ requests }: RankingFacts): Estimate =>
  requests === null ? atLeast(1, 'length-unknown') : none;

/** What the rankings of a day take. */
export const rankingUpkeep = ({ requests }: RankingFacts, pollsPerDay: number): Estimate =>
  requests === null
    ? atLeast(pollsPerDay, 'length-unknown')
    : about([{ what: 'ranking', count: pollsPerDay, requests_each: requests }]);
