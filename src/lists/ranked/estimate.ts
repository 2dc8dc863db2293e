import { about, atLeast, none } from '../estimates.ts';
import type { Estimate } from '../list.ts';
import type { RankingFacts } from './facts.ts';

/** The first ranking, where none was published. Its length is known at its end. */
export const rankingHistory = ({ requests }: RankingFacts): Estimate =>
  requests === null ? atLeast(1) : none;

/** What the rankings of a day take. */
export const rankingUpkeep = ({ requests }: RankingFacts, pollsPerDay: number): Estimate =>
  requests === null ? atLeast(pollsPerDay) : about(pollsPerDay * requests);
