import { getTableColumns, sql } from 'drizzle-orm';
import { boolean, index, jsonb, type PgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { explorerSchema, instant, integer, provenance } from '../db/column-types.ts';
import { embeddedAddress } from '../load/address.ts';
import { addressKey, keysBelow } from '../load/tables.ts';
import {
  type ColumnsOfKind,
  count,
  type DeclaredItem,
  type ItemLayout,
  layoutOfItem,
  normaliser,
} from './item-rows.ts';
import type {
  Defaults,
  Guide,
  ListOperation,
  ListOrder,
  NewestFirstDefaults,
  NewestFirstOperation,
  NewestFirstWalk,
  NumberedColumns,
  NumberedOperation,
  NumberedWalk,
  Operation,
  RankedColumns,
  RankedOperation,
  RankedWalk,
  Scope,
} from './operation.ts';
import { pageToken, type Paging } from './positions.ts';

/** The part of an operation that only its kind has. */
type OwnPart<Kind extends Operation> = Omit<Kind, keyof ListOperation>;

/** What a kind of list adds to the declaration of its items. */
interface ListDeclaration<Walk extends Scope, Own> {
  readonly columns: ColumnsOfKind<Walk>;
  /** Its tables beside those of the items. */
  readonly concluded: readonly PgTable[];
  own(declared: DeclaredList, layout: ItemLayout): Own;
}

interface DeclaredList extends DeclaredItem, Pick<Operation, 'name'> {
  readonly cursor: Paging;
}

/** A list of the API: all of its operation that does not follow from the rest. */
interface Declaration<Walk extends Scope, Own>
  extends DeclaredList, Pick<Operation, 'offer' | 'guide'> {
  /** Absent: there is none. */
  readonly version?: Operation['version'];
  /** Below `/{chain_id}/api/v2/`. */
  readonly path: (scope: Walk) => string;
  /** Tables of schema `explorer` that the operation writes beside those of its items and its kind. */
  readonly concludes?: readonly PgTable[];
  readonly list: ListDeclaration<Walk, Own>;
}

/**
 * An operation from its declaration. A field is the column of its name or of `columns`; an embedded
 * address is `<field>_hash` and a row of its own; a list or an object is a table of `children`.
 */
export function operation<Walk extends Scope, Own extends Pick<Operation, 'order'>>(
  declared: Declaration<Walk, Own>,
): ListOperation & Own {
  const { name, table, item, path, cursor, key, version = [], offer, guide, list } = declared;
  if (cursor.topOf(0).key.split(',').length !== key.length) {
    throw new Error(`${name}: the cursor has other parts than the key, which is ${key.join()}`);
  }
  const layout = layoutOfItem(declared);
  const own = list.own(declared, layout);
  return {
    ...own,
    name,
    table,
    children: layout.parts,
    tables: [
      ...layout.parts.map((part) => part.table),
      ...(declared.concludes ?? []),
      ...list.concluded,
      table,
    ],
    addressColumns: layout.columns.flatMap(({ column, isAddress }) => (isAddress ? column : [])),
    version,
    offer,
    guide,
    request: (scope, after, pageSize) => ({
      path: path(scope as Walk),
      query: cursor.query(after, pageSize),
    }),
    cursor: cursor.schema,
    item,
    normalise: normaliser(declared, layout, list.columns, own.order?.columns.height ?? null),
  };
}

/** An order by columns; `by` orders the items of a height. */
function orderBy(
  { table, cursor, key }: DeclaredList,
  layout: ItemLayout,
  { height, time, ...order }: ListOrder['columns'] & Pick<ListOrder, 'unit' | 'givesCoverage'>,
  by = key,
): ListOrder {
  const types = getTableColumns(table);
  const fieldsOf = (name: string) => {
    const field = layout.columns.find(({ column }) => column === name);
    if (field === undefined) throw new Error(`no field reports ${name}, which orders the list`);
    return field.names;
  };
  return {
    ...cursor,
    ...order,
    // One that does not name what orders a height cannot be read: the items alone are the evidence.
    position: by === key ? cursor.position : () => null,
    fields: { height: fieldsOf(height), time: fieldsOf(time) },
    columns: { height, time },
    key: by.map((column) => ({
      column,
      names: fieldsOf(column),
      isNumber: types[column]?.dataType === 'number',
    })),
  };
}

/** A list that is highest first; its table has a column `removed_at`. */
export const newestFirst = (
  order: ListOrder['columns'] & Pick<ListOrder, 'unit'>,
  defaults: NewestFirstDefaults,
): ListDeclaration<NewestFirstWalk, OwnPart<NewestFirstOperation>> => ({
  // Seen again: whatever was concluded from its absence is over.
  columns: { removed_at: () => null },
  concluded: [],
  own: (declared, layout) => ({
    kind: 'newest-first',
    defaults,
    order: orderBy(declared, layout, { ...order, givesCoverage: true }),
  }),
});

const blocksDown = { height: 'height', time: 'timestamp', unit: 'blocks' } as const;

/** One list of blocks for each number, each highest first; no item reports the column `number`. */
export const numbered = (
  batches: NumberedColumns,
  defaults: Defaults,
): ListDeclaration<NumberedWalk, OwnPart<NumberedOperation>> => ({
  columns: { [batches.number]: ({ batch }) => batch },
  concluded: [batches.states],
  own: (declared, layout) => ({
    kind: 'numbered',
    defaults,
    order: orderBy(declared, layout, { ...blocksDown, givesCoverage: false }, ['hash']),
    batches,
  }),
});

/** A list whose order changes: only the whole list says something. */
export const ranked = (
  defaults: Defaults,
  { total, history }: Pick<RankedColumns, 'total' | 'history'>,
): ListDeclaration<RankedWalk, OwnPart<RankedOperation>> => ({
  columns: {},
  concluded: [history],
  own({ name, cursor: { position }, key: [key, ...others] }) {
    if (key === undefined || others.length > 0) throw new Error(`${name}: a rank has one key`);
    return { kind: 'ranked', defaults, order: null, ranking: { key, position, total, history } };
  },
});

type AddressRanking = Pick<Operation, 'name' | 'offer'> &
  Defaults &
  Pick<Guide, 'about'> & {
    readonly tables: Pick<RankedColumns, 'total' | 'history'> & {
      readonly items: PgTable;
      readonly counts: readonly string[];
    };
  };

/** A list of account abstraction that ranks addresses by a count (spec 4.3 and table 2.5). */
export const addressRanking = ({ name, tables, schedule, offer, about }: AddressRanking) =>
  operation({
    name,
    path: () => `proxy/account-abstraction/${name}`,
    cursor: pageToken('address'),
    // Changes of the total are kept for good: what is no count is missing.
    item: z.looseObject({
      address: embeddedAddress,
      ...Object.fromEntries(tables.counts.map((column) => [column, count])),
    }),
    table: tables.items,
    key: ['address_hash'],
    list: ranked({ schedule }, tables),
    offer,
    guide: {
      list: name,
      items: name,
      about,
      example: () => `      # The whole list each time: one page for every 50 ${name}.
      ${name}:
        schedule: '${schedule}'
`,
    },
  });

/** Columns of counts, by name. */
const countColumns = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, integer(name)])) as Record<
    Name,
    ReturnType<typeof integer>
  >;

/** Tables of schema `explorer` for a ranked list of addresses, and for the changes of `total`, which ranks them. */
export function rankedTables<
  Table extends string,
  Changes extends string,
  Total extends string,
  Other extends string = never,
>(name: Table, changes: Changes, total: Total, others: readonly Other[] = []) {
  const counts = [...others, total];
  const items = explorerSchema.table(
    name,
    {
      ...addressKey(),
      ...countColumns<Other | Total>(counts),
      rank: integer('rank'),
      missing_since: instant('missing_since'),
      extra: jsonb('extra'),
      ...provenance(),
    },
    (table) => [primaryKey({ columns: [table.chain_id, table.address_hash] })],
  );
  const history = explorerSchema.table(
    changes,
    {
      ...addressKey(),
      observed_at: instant('observed_at').notNull(),
      ...countColumns([total]),
      ...provenance(),
    },
    (table) => keysBelow([items.chain_id, items.address_hash], table, table.observed_at),
  );
  return { items, history, total, counts };
}

/** A table of schema `explorer` for what the chain verifies of each number of a list. */
export const batchStates = (name: string) =>
  explorerSchema.table(
    name,
    {
      chain_id: integer('chain_id').notNull(),
      batch_number: integer('batch_number').notNull(),
      state: text('state', { enum: ['open', 'settled', 'empty'] }).notNull(),
      blocks_count: integer('blocks_count').notNull(),
      first_height: integer('first_height'),
      last_height: integer('last_height'),
      is_contiguous: boolean('is_contiguous'),
      is_linked: boolean('is_linked'),
      is_verified: boolean('is_verified').notNull().default(false),
      walked_at: instant('walked_at').notNull(),
      ...provenance(),
    },
    (table) => [
      primaryKey({ columns: [table.chain_id, table.batch_number] }),
      // What is read again: a few among hundreds of thousands.
      index(`${name}_unverified`)
        .on(table.batch_number, table.chain_id)
        .where(sql`not is_verified`),
      // Finds batches that may have lost a block to another batch.
      index(`${name}_heights`)
        .using('gist', sql`int8range(${table.first_height}, ${table.last_height}, '[]')`)
        .where(sql`blocks_count > 0`),
    ],
  );
