import type { Database } from '../../db/transaction.ts';
import type { RunOf } from '../list.ts';
import { aboutPages, pagesOfRun, type RunLeft } from '../run-left.ts';
import { rankingFacts } from './facts.ts';
import type { RankedScope } from './plan.ts';

/** What a ranking has left: as many pages as the last ones took; null before the first. */
export async function rankingLeft(db: Database, run: RunOf<RankedScope>): Promise<RunLeft | null> {
  const total = run.scope.max_pages ?? (await rankingFacts(db, run)).requests;
  return total === null ? null : aboutPages(total - (await pagesOfRun(db, run)));
}
