import type { PgTable } from 'drizzle-orm/pg-core';
import {
  type DeclaredItem,
  isNumberColumn,
  type ItemLayout,
  layoutOfItem,
  normaliser,
  type RowOfKind,
} from './item-rows.ts';
import type { Paging } from './positions.ts';
import { judgeListEnd, noteChanges, pagesWithChanges, removeBelow } from './evidence.ts';
import type {
  ConfigDefaults,
  ListOrder,
  NewestFirstWalk,
  NumberedWalk,
  Operation,
  RankedWalk,
  Scope,
} from './operation.ts';

import {
  concludeRanking,
  judgeRankingEnd,
  noteRankingPage,
  type RankedList,
} from './ranked/ranking.ts';

/** What a declaration says of itself, and no kind of list decides. */
type Declared = 'name' | 'version' | 'isOffered' | 'guide';

type KindOf<Walk extends Scope> = (
  declared: Pick<Declaration<Walk>, 'name' | 'guide' | 'table' | 'key'> & {
    readonly cursor: Paging;
    readonly orderBy: (
      columns: ListOrder['columns'],
      key: readonly string[],
    ) => Omit<ListOrder, 'unit' | 'givesCoverage'>;
  },
) => Pick<RowOfKind<Walk>, 'columns'> & Omit<Operation<Walk>, Declared | Derived>;

/** What follows from the declaration of the item, the path and the cursor. */
type Derived =
  'table' | 'children' | 'tables' | 'addressColumns' | 'request' | 'cursor' | 'item' | 'normalise';

/** A list of the API: all of its operation that does not follow from the rest. */
interface Declaration<Walk extends Scope> extends DeclaredItem, Pick<Operation, Declared> {
  /** Below `/{chain_id}/api/v2/`. */
  readonly path: (scope: Walk) => string;
  readonly cursor: Paging;
  /** Tables of schema `explorer` that the operation writes beside those of its items. */
  readonly concludes: readonly PgTable[];
  readonly list: KindOf<Walk>;
}

/**
 * An operation from its declaration. A field is the column of its name or of `columns`; an embedded
 * address is `<field>_hash` and a row of its own; a list or an object is a table of `children`.
 */
export function operation<Walk extends Scope>(declared: Declaration<Walk>): Operation<Walk> {
  const { name, table, item, path, cursor, version, isOffered, guide } = declared;
  const layout = layoutOfItem(declared);
  const { columns, ...kind } = declared.list({
    ...declared,
    orderBy: (by, key) => orderOf(declared, layout, by, key),
  });
  return {
    name,
    table,
    children: layout.parts,
    tables: [...layout.parts.map((part) => part.table), ...declared.concludes, table],
    addressColumns: layout.columns.flatMap(({ column, isAddress }) => (isAddress ? column : [])),
    version,
    isOffered,
    guide,
    ...kind,
    request: (scope, after, pageSize) => ({
      path: path(scope),
      query: cursor.query(after, pageSize),
    }),
    cursor: cursor.schema,
    item,
    normalise: normaliser(declared, layout, {
      columns,
      height: kind.order?.columns.height ?? null,
    }),
  };
}

function orderOf(
  { table, cursor }: { readonly table: PgTable; readonly cursor: Paging },
  layout: ItemLayout,
  columns: ListOrder['columns'],
  keys: readonly string[],
) {
  const fieldsOf = (name: string) => {
    const field = layout.columns.find(({ column }) => column === name);
    if (field === undefined) throw new Error(`no field reports ${name}, which orders the list`);
    return field.names;
  };
  const fields = { height: fieldsOf(columns.height), time: fieldsOf(columns.time) };
  const key = keys.map((column) => ({
    column,
    names: fieldsOf(column),
    isNumber: isNumberColumn(table, column),
  }));
  const { position, names, cursorAt, topOf } = cursor;
  return { fields, columns, key, position, names, cursorAt, topOf };
}

/** A list that is highest first; its table has a column `removed_at`. */
export const newestFirst =
  (
    { height, time, unit }: ListOrder['columns'] & Pick<ListOrder, 'unit'>,
    defaults: ConfigDefaults,
  ): KindOf<NewestFirstWalk> =>
  ({ name, table, key, orderBy }) => {
    const order = { ...orderBy({ height, time }, key), unit, givesCoverage: true };
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
      informative: (tx, pages) => pagesWithChanges(list, tx, pages),
      afterPage: (tx, walk, rows) => noteChanges(list, tx, walk, rows),
      afterWalk: (tx, walk) => removeBelow(list, tx, walk),
    };
  };

/** One list for each number, each highest first; no item reports the column `number`. */
export const numbered =
  (
    { number, hash, ...columns }: ListOrder['columns'] & Record<'number' | 'hash', string>,
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    conclusions: Pick<Operation<NumberedWalk>, 'judgeEnd' | 'afterWalk'>,
  ): KindOf<NumberedWalk> =>
  ({ orderBy }) => ({
    kind: 'numbered',
    // The cursor reports a height, and no key: the items alone are the evidence.
    order: {
      ...orderBy(columns, [hash]),
      unit: 'blocks',
      position: () => null,
      givesCoverage: false,
    },
    defaults: { schedule, overlap: '0s', resweep: [] },
    decidesMembership: true,
    isReplayable: true,
    columns: { [number]: ({ batch }) => batch },
    // A page alone says nothing beyond its rows.
    informative: () => Promise.resolve(new Set()),
    afterPage: () => Promise.resolve(true),
    ...conclusions,
  });

/** A list whose order changes: only the whole list says something. */
export const ranked =
  (
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    columns: Pick<RankedList, 'total' | 'history'>,
  ): KindOf<RankedWalk> =>
  ({ name, guide: { items }, table, key: [key, ...others], cursor }) => {
    if (key === undefined || others.length > 0) throw new Error(`${name}: a rank has one key`);
    const list = { items, table, key, ...columns, position: cursor.position };
    return {
      kind: 'ranked',
      order: null,
      defaults: { schedule, overlap: '0s', resweep: [] },
      decidesMembership: false,
      isReplayable: false,
      columns: {},
      judgeEnd: (db, claim) => judgeRankingEnd(list, db, claim),
      informative: (_tx, pages) => Promise.resolve(new Set(pages.map(({ walk }) => walk.page_id))),
      afterPage: (tx, walk, rows) => noteRankingPage(list, tx, walk, rows),
      afterWalk: (tx, walk) => concludeRanking(list, tx, walk),
    };
  };
