import type { Operation } from './operation.ts';
import { noteChanges } from './list-changes.ts';
import { judgeListEnd, removeBelow } from './list-end.ts';
import type { PlacedList } from './placed-list.ts';

/** What an operation concludes from the order of its list, if that is highest first. */
export const newestFirstList = (
  list: PlacedList,
): Pick<
  Operation<never>,
  'kind' | 'order' | 'decidesMembership' | 'afterPage' | 'judgeEnd' | 'afterWalk'
> => ({
  kind: 'newest-first',
  order: list.order,
  decidesMembership: false,
  afterPage: (tx, walk, rows) => noteChanges(list, tx, walk, rows),
  judgeEnd: (db, claim) => judgeListEnd(list, db, claim),
  afterWalk: (tx, walk) => removeBelow(list, tx, walk),
});
