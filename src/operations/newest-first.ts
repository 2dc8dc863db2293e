import type { KindOf } from './define.ts';
import { noteChanges, pagesWithChanges } from './list-changes.ts';
import { judgeListEnd, removeBelow } from './list-end.ts';
import type { ConfigDefaults } from './guide.ts';
import type { ListUnit, NewestFirstWalk } from './operation.ts';

/** Columns that say where an item stands and when it was made, and what the first of them counts. */
interface Order {
  readonly height: string;
  readonly time: string;
  readonly unit: ListUnit;
}

/** A list that is highest first; its table has a column `removed_at`. */
export const newestFirst =
  ({ height, time, unit }: Order, defaults: ConfigDefaults): KindOf<NewestFirstWalk> =>
  ({ name, table, key, orderBy }) => {
    const order = { ...orderBy({ height, time, key }), unit, isProof: true };
    const list = { name, table, order };
    return {
      kind: 'newest-first',
      order,
      defaults,
      decidesMembership: false,
      isReplayable: true,
      // Seen again: whatever was concluded from its absence is over.
      columns: { removed_at: () => null },
      judgeEnd: (db, claim) => judgeListEnd(list, db, claim),
      tellingPages: (tx, pages) => pagesWithChanges(list, tx, pages),
      afterPage: (tx, walk, rows) => noteChanges(list, tx, walk, rows),
      afterWalk: (tx, walk) => removeBelow(list, tx, walk),
    };
  };
