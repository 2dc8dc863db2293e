import { sql } from 'drizzle-orm';
import {
  boolean,
  foreignKey,
  index,
  jsonb,
  type PgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { explorerSchema, hexText, instant, integer, provenance } from '../db/column-types.ts';
import { embeddedAddress } from '../load/address.ts';
import {
  count,
  type DeclaredItem,
  isNumberColumn,
  type ItemLayout,
  layoutOfItem,
  normaliser,
  type RowOfKind,
} from './item-rows.ts';
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
import { pageToken, type Paging } from './positions.ts';

/** What a kind of list adds to the declaration of its items. */
interface ListDeclaration<Walk extends Scope> extends Pick<Operation, 'kind'> {
  readonly defaults: Pick<ConfigDefaults, 'schedule'> & Partial<ConfigDefaults>;
  /** The columns of its order; absent: it has none. */
  readonly order?: ListOrder['columns'] & Pick<ListOrder, 'unit' | 'givesCoverage'>;
  /** The columns that order the items of a height; absent: the key. */
  readonly orderedBy?: readonly string[];
  readonly batches?: NumberedColumns;
  readonly ranking?: Pick<RankedColumns, 'total' | 'history'>;
  /** Its tables beside those of the items. */
  readonly concluded?: readonly PgTable[];
  readonly columns: RowOfKind<Walk>['columns'];
}

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
  readonly list: ListDeclaration<Walk>;
}

/**
 * An operation from its declaration. A field is the column of its name or of `columns`; an embedded
 * address is `<field>_hash` and a row of its own; a list or an object is a table of `children`.
 */
export function operation<Walk extends Scope>(declared: Declaration<Walk>): Operation<Walk> {
  const { name, table, item, path, cursor, key, version = [], offer, guide, list } = declared;
  if (cursor.topOf(0).key.split(',').length !== key.length) {
    throw new Error(`${name}: the cursor has other parts than the key, which is ${key.join()}`);
  }
  const layout = layoutOfItem(declared);
  return {
    name,
    table,
    children: layout.parts,
    tables: [
      ...layout.parts.map((part) => part.table),
      ...(declared.concludes ?? []),
      ...(list.concluded ?? []),
      table,
    ],
    addressColumns: layout.columns.flatMap(({ column, isAddress }) => (isAddress ? column : [])),
    version,
    offer,
    guide,
    kind: list.kind,
    defaults: { overlap: '0s', resweep: [], ...list.defaults },
    order: declaredOrder(declared, layout),
    batches: list.batches ?? null,
    ranking: declaredRanking(declared),
    request: (scope, after, pageSize) => ({
      path: path(scope),
      query: cursor.query(after, pageSize),
    }),
    cursor: cursor.schema,
    item,
    normalise: normaliser(declared, layout, {
      columns: list.columns,
      height: list.order?.height ?? null,
    }),
  };
}

function declaredOrder<Walk extends Scope>(
  { table, cursor, key, list: { order, orderedBy = key } }: Declaration<Walk>,
  layout: ItemLayout,
): ListOrder | null {
  if (order === undefined) return null;
  const { height, time, unit, givesCoverage } = order;
  const fieldsOf = (name: string) => {
    const field = layout.columns.find(({ column }) => column === name);
    if (field === undefined) throw new Error(`no field reports ${name}, which orders the list`);
    return field.names;
  };
  return {
    ...cursor,
    // One that does not name what orders a height cannot be read: the items alone are the evidence.
    position: orderedBy === key ? cursor.position : () => null,
    fields: { height: fieldsOf(height), time: fieldsOf(time) },
    columns: { height, time },
    key: orderedBy.map((column) => ({
      column,
      names: fieldsOf(column),
      isNumber: isNumberColumn(table, column),
    })),
    unit,
    givesCoverage,
  };
}

function declaredRanking<Walk extends Scope>({
  name,
  cursor: { position },
  key: [key, ...others],
  list: { ranking },
}: Declaration<Walk>): RankedColumns | null {
  if (ranking === undefined) return null;
  if (key === undefined || others.length > 0) throw new Error(`${name}: a rank has one key`);
  return { key, position, ...ranking };
}

/** A list that is highest first; its table has a column `removed_at`. */
export const newestFirst = (
  order: ListOrder['columns'] & Pick<ListOrder, 'unit'>,
  defaults: ConfigDefaults,
): ListDeclaration<NewestFirstWalk> => ({
  kind: 'newest-first',
  defaults,
  order: { ...order, givesCoverage: true },
  // Seen again: whatever was concluded from its absence is over.
  columns: { removed_at: () => null },
});

/** One list of blocks for each number, each highest first; no item reports the column `number`. */
export const numbered = (
  batches: NumberedColumns,
  defaults: Pick<ConfigDefaults, 'schedule'>,
): ListDeclaration<NumberedWalk> => ({
  kind: 'numbered',
  defaults,
  order: { height: 'height', time: 'timestamp', unit: 'blocks', givesCoverage: false },
  orderedBy: ['hash'],
  batches,
  concluded: [batches.states],
  columns: { [batches.number]: ({ batch }) => batch },
});

/** A list whose order changes: only the whole list says something. */
export const ranked = (
  defaults: Pick<ConfigDefaults, 'schedule'>,
  { total, history }: Pick<RankedColumns, 'total' | 'history'>,
): ListDeclaration<RankedWalk> => ({
  kind: 'ranked',
  defaults,
  ranking: { total, history },
  concluded: [history],
  columns: {},
});

interface AddressRanking
  extends Pick<Operation, 'name' | 'offer'>, Pick<ConfigDefaults, 'schedule'> {
  readonly tables: ReturnType<typeof rankedTables>;
  /** A sentence. */
  readonly about: string;
}

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

const addressKey = () => ({
  chain_id: integer('chain_id').notNull(),
  address_hash: hexText('address_hash').notNull(),
});

/** Tables of schema `explorer` for a ranked list of addresses, and for the changes of `total`, which ranks them. */
export function rankedTables(name: string, changes: string, total: string, others: string[] = []) {
  const counts = [...others, total];
  const items = explorerSchema.table(
    name,
    {
      ...addressKey(),
      ...Object.fromEntries(counts.map((column) => [column, integer(column)])),
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
      [total]: integer(total),
      ...provenance(),
    },
    (table) => [
      primaryKey({ columns: [table.chain_id, table.address_hash, table.observed_at] }),
      foreignKey({
        columns: [table.chain_id, table.address_hash],
        foreignColumns: [items.chain_id, items.address_hash],
      }).onDelete('cascade'),
    ],
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
