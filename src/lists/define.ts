import type { PgTable } from 'drizzle-orm/pg-core';
import {
  type DeclaredItem,
  hasColumn,
  isNumberColumn,
  type ItemLayout,
  layoutOfItem,
  normaliser,
  type RowOfKind,
} from './item-rows.ts';
import type { Paging } from './positions.ts';
import type {
  ConfigDefaults,
  ListOrder,
  NewestFirstWalk,
  NumberedColumns,
  NumberedWalk,
  Operation,
  RankedColumns,
  RankedWalk,
  Scope,
} from './operation.ts';

type KindOf<Walk extends Scope> = (
  declared: Pick<Declaration<Walk>, 'name' | 'table' | 'key' | 'cursor'> & {
    readonly orderBy: (
      columns: ListOrder['columns'],
      key: readonly string[],
    ) => Omit<ListOrder, 'unit' | 'givesCoverage'>;
  },
) => Pick<RowOfKind<Walk>, 'columns'> & {
  /** Its tables beside those of the items. */
  readonly concluded: readonly PgTable[];
} & Pick<Operation, 'kind' | 'order' | 'defaults' | 'batches' | 'ranking'>;

/** A list of the API: all of its operation that does not follow from the rest. */
interface Declaration<Walk extends Scope>
  extends DeclaredItem, Pick<Operation, 'name' | 'offer' | 'guide'> {
  /** Absent: there is none. */
  readonly version?: Operation['version'];
  /** Below `/{chain_id}/api/v2/`. */
  readonly path: (scope: Walk) => string;
  readonly cursor: Paging;
  /** Tables of schema `explorer` that the operation writes beside those of its items and its kind. */
  readonly concludes?: readonly PgTable[];
  readonly list: KindOf<Walk>;
}

/**
 * An operation from its declaration. A field is the column of its name or of `columns`; an embedded
 * address is `<field>_hash` and a row of its own; a list or an object is a table of `children`.
 */
export function operation<Walk extends Scope>(declared: Declaration<Walk>): Operation<Walk> {
  const { name, table, item, path, cursor, key, version = [], offer, guide } = declared;
  if (cursor.topOf(0).key.split(',').length !== key.length) {
    throw new Error(`${name}: the cursor has other parts than the key, which is ${key.join()}`);
  }
  const layout = layoutOfItem(declared);
  const { columns, concluded, ...kind } = declared.list({
    ...declared,
    orderBy: (by, keys) => orderOf(declared, layout, by, keys),
  });
  return {
    name,
    table,
    children: layout.parts,
    tables: [
      ...layout.parts.map((part) => part.table),
      ...(declared.concludes ?? []),
      ...concluded,
      table,
    ],
    addressColumns: layout.columns.flatMap(({ column, isAddress }) => (isAddress ? column : [])),
    version,
    offer,
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
  ({ key, orderBy }) => ({
    kind: 'newest-first',
    order: { ...orderBy({ height, time }, key), unit, givesCoverage: true },
    defaults,
    batches: null,
    ranking: null,
    concluded: [],
    // Seen again: whatever was concluded from its absence is over.
    columns: { removed_at: () => null },
  });

/** The columns of a block that a numbered list is verified by. */
const linked = { height: 'height', hash: 'hash', time: 'timestamp' } as const;
const linkingColumns = [...Object.values(linked), 'parent_hash', 'is_pending_update'];

/** One list of blocks for each number, each highest first; no item reports the column `number`. */
export const numbered =
  (
    batches: NumberedColumns,
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
  ): KindOf<NumberedWalk> =>
  ({ name, table, orderBy }) => {
    const lacking = [batches.number, ...linkingColumns].find((one) => !hasColumn(table, one));
    if (lacking !== undefined) throw new Error(`${name}: the table has no ${lacking}`);
    const { height, time, hash } = linked;
    return {
      kind: 'numbered',
      // The cursor reports a height, and no key: the items alone are the evidence.
      order: {
        ...orderBy({ height, time }, [hash]),
        unit: 'blocks',
        position: () => null,
        givesCoverage: false,
      },
      defaults: { schedule, overlap: '0s', resweep: [] },
      batches,
      ranking: null,
      concluded: [batches.states],
      columns: { [batches.number]: ({ batch }) => batch },
    };
  };

/** A list whose order changes: only the whole list says something. */
export const ranked =
  (
    { schedule }: Pick<ConfigDefaults, 'schedule'>,
    columns: Pick<RankedColumns, 'total' | 'history'>,
  ): KindOf<RankedWalk> =>
  ({ name, cursor: { position }, key: [key, ...others] }) => {
    if (key === undefined || others.length > 0) throw new Error(`${name}: a rank has one key`);
    return {
      kind: 'ranked',
      order: null,
      defaults: { schedule, overlap: '0s', resweep: [] },
      batches: null,
      ranking: { key, position, ...columns },
      concluded: [columns.history],
      columns: {},
    };
  };
