import type { PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { normaliser, type RowOfKind } from './item-rows.ts';
import { layoutOfItem, type DeclaredItem, type ItemLayout } from './layout.ts';
import type { Cursor, ListOrder, Operation, Scope } from './operation.ts';

/** How a list goes on from page to page. */
export interface Paging extends Pick<ListOrder, 'position' | 'names' | 'cursorAt' | 'topOf'> {
  /** What `next_page_params` may hold. */
  readonly schema: z.ZodType<Cursor | null>;
  /** The declared query parameters of one page. */
  query(cursor: Cursor | null, pageSize: number): Cursor;
}

/** What an operation's kind of list decides. */
type Kind<Walk extends Scope> = Pick<RowOfKind<Walk>, 'columns'> &
  Pick<
    Operation<Walk>,
    | 'kind'
    | 'order'
    | 'defaults'
    | 'decidesMembership'
    | 'isReplayable'
    | 'judgeEnd'
    | 'tellingPages'
    | 'afterPage'
    | 'afterWalk'
  >;

/** Makes a kind of an operation, of which it knows this. */
export type KindOf<Walk extends Scope> = (operation: {
  readonly name: string;
  readonly table: PgTable;
  /** The column that tells a chain's items apart. */
  readonly key: string;
  /** The list's order, by the columns that tell it. */
  readonly orderBy: (columns: ListOrder['columns']) => Omit<ListOrder, 'unit' | 'isProof'>;
}) => Kind<Walk>;

/** A list of the API: all of its operation that does not follow from the rest. */
type Declaration<Walk extends Scope> = DeclaredItem &
  Pick<Operation, 'name' | 'version' | 'isOffered' | 'guide'> & {
    /** Below `/{chain_id}/api/v2/`. */
    readonly path: (scope: Walk) => string;
    readonly cursor: Paging;
    /** Tables of schema `explorer` that the operation writes beside those of its items. */
    readonly concludes: readonly PgTable[];
    readonly list: KindOf<Walk>;
  };

/**
 * An operation from its declaration. A field of the schema is the column of its name, or the one that
 * `columns` gives it; an older name of a field is that field. An embedded address is the column
 * `<field>_hash`, and an observation. A list or an object has a table in `children`.
 */
export function operation<Walk extends Scope>(declared: Declaration<Walk>): Operation<Walk> {
  const { name, table, key, item, path, cursor, version, isOffered, guide } = declared;
  const layout = layoutOfItem(declared);
  const orderBy = (columns: ListOrder['columns']) => orderOf(layout, cursor, columns);
  const { columns, ...kind } = declared.list({ name, table, key, orderBy });
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

function orderOf(layout: ItemLayout, cursor: Paging, columns: ListOrder['columns']) {
  const fieldsOf = (name: string) => {
    const field = layout.columns.find(({ column }) => column === name);
    if (field === undefined) throw new Error(`no field tells ${name}, which orders the list`);
    return field.names;
  };
  const { height, time, key } = columns;
  const fields = { height: fieldsOf(height), time: fieldsOf(time), key: fieldsOf(key) };
  const { position, names, cursorAt, topOf } = cursor;
  return { fields, columns, position, names, cursorAt, topOf };
}
