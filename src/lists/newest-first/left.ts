import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { operations } from '../../operations/index.ts';
import { numberOf } from '../estimates.ts';
import { aboutPages, pagesOfRun, type RunLeft } from '../run-left.ts';
import { listHistory } from './estimate.ts';
import { listDensity, type ListDensity } from './facts.ts';
import type { NewestFirstRun, NewestFirstScope } from './scope.ts';

/**
 * What a run of a list that is newest first has left: a walk to a floor by the blocks that it has gone over,
 * history by what its gaps hold if they are as dense as what was read.
 */
export async function listLeft(
  db: Database,
  run: NewestFirstRun,
  { pageSize }: { readonly pageSize: number },
): Promise<RunLeft | null> {
  const { scope, operation } = run;
  if (scope.max_pages !== undefined)
    return aboutPages(scope.max_pages - (await pagesOfRun(db, run)));
  if (run.lane === 'live') return leftAboveFloor(db, run);
  // What is read once more is no gap.
  if (scope.again === true) return null;
  const facts = within(await listDensity(db, run), scope);
  const unit = operations[operation].order?.unit ?? 'blocks';
  // Nothing tells where a list of blocks begins; batches are numbered from the first one on.
  if (unit === 'blocks' && scope.since === undefined && facts.gaps.some(({ from }) => from === 0)) {
    return null;
  }
  const { likely } = listHistory(
    { ...facts, itemsPerDay: null },
    { pageSize, since: scope.since ?? null, unit },
  );
  return likely === null ? null : aboutPages(likely);
}

/** The facts with those gaps alone that a run is about. */
function within(
  facts: ListDensity,
  { from_block = 0, to_block = Infinity }: NewestFirstScope,
): ListDensity {
  const gaps = facts.gaps.flatMap((gap) => {
    const [from, to] = [Math.max(gap.from, from_block), Math.min(gap.to, to_block)];
    return from > to ? [] : [{ ...gap, from, to }];
  });
  return { ...facts, gaps };
}

async function leftAboveFloor(db: Database, { id }: NewestFirstRun): Promise<RunLeft | null> {
  const { rows } = await db.execute<{ left: number | null }>(sql`
    select sum(pages::float8 * greatest(0, bottom - floor) / nullif(top - bottom, 0)) as left
    from etl.walks
    where run_id = ${id} and state = 'running' and floor is not null
  `);
  const left = numberOf(rows[0]?.left);
  return left === null ? null : aboutPages(left);
}
