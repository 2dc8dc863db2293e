import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import {
  completeMembers,
  fill,
  type MergedColumn,
  mergedColumns,
  mergeExpression,
  mergeObservations,
  sameMember,
} from './address-merge.ts';
import {
  type AddressList,
  addressListNames,
  type AddressObservation,
  forLists,
  listOf,
  type ReportedList,
} from './address.ts';
import { type ChildLink, type ChildSet, replaceChildren } from './children.ts';
import { addresses } from './tables.ts';
import {
  type Changeable,
  columnList,
  type CountsByPage,
  insert,
  keyMatch,
  keyText,
  recordset,
  shapeOf,
  storedByKey,
  upsert,
} from './upsert.ts';

/** A table whose rows belong to a parent row; `parentKey` names the columns that point to it. */
export interface ChildTable {
  readonly table: PgTable;
  readonly parentKey: readonly string[];
}

export interface Tables {
  readonly table: PgTable;
  readonly children: readonly ChildTable[];
  /** Columns whose change makes a row another one: the block of a height with another hash. */
  readonly version: readonly string[];
}

/** What an item's rows do not report, so that the stored rows keep it. */
interface MissingValues {
  readonly columns: readonly string[];
  /** Positions (none: 0) of each child table's rows not read whole; `all`: nothing was read. */
  readonly children: readonly (readonly number[] | 'all')[];
}

/** An item's own row, and its rows of each child table, in the order of the tables. */
interface KnownItem {
  readonly row: Row;
  readonly children: readonly (readonly Row[])[];
}

/** What one valid item becomes, but for the provenance. `key` shows repeats within a page. */
export interface LoadedItem extends KnownItem {
  readonly key: string;
  readonly addresses: readonly AddressObservation[];
  /** Null where everything was reported, as it almost always is. */
  readonly missing: MissingValues | null;
}

interface LoadedPage {
  readonly page_id: number;
  readonly rows: readonly LoadedItem[];
}

/**
 * Upserts the rows of pages, oldest first, an item of two pages once, as the newer page shows it;
 * values that were not read stay as stored. Returns what each page added and changed in the own
 * table.
 */
export async function loadPages(
  tx: Transaction,
  tables: Tables,
  pages: readonly LoadedPage[],
  changeable: Changeable = 'older',
): Promise<CountsByPage> {
  const { table: own, children } = tables;
  const newest = new Map<string, LoadedItem & { page_id: number }>();
  for (const { page_id, rows } of pages) {
    for (const item of rows) {
      const before = item.missing === null ? undefined : newest.get(item.key);
      const whole = before === undefined ? item : completeItem(item, before, tables);
      newest.set(item.key, { ...whole, page_id });
    }
  }
  const items = await completeFromStored(tx, tables, [...newest.values()]);
  const counts = await upsert(
    tx,
    own,
    items.map(({ row, page_id }) => ({ ...row, page_id })),
    changeable,
  );
  const changed = await findNewValues(
    tx,
    // Of repeated items too, and in the order of the pages: each observation may report what no other does.
    pages.flatMap(({ rows }) => rows.flatMap((item) => item.addresses)),
  );
  const { key } = shapeOf(own);
  for (const [index, { table, parentKey }] of children.entries()) {
    const sets = items.map(({ row, page_id, children: members }) => ({
      parent: parentOf(row, key, parentKey),
      page_id,
      rows: members[index] ?? [],
    }));
    await replaceChildren(tx, { table, parent: own, setKey: parentKey, newness: 'parent' }, sets);
  }
  await writeChanges(tx, changed);
  return counts;
}

/** An item whose values that were not read are as they were known, unless it is another one by now. */
function completeItem<Item extends LoadedItem>(
  item: Item,
  known: KnownItem,
  { version }: Tables,
): Item {
  const { missing } = item;
  if (missing === null || !isSame(item.row, known.row, version)) return item;
  return {
    ...item,
    row: fill(item.row, known.row, missing.columns),
    children: item.children.map((rows, index) => {
      const unread = missing.children[index] ?? [];
      const before = known.children[index] ?? [];
      return unread === 'all' ? before : completeMembers(rows, before, unread, () => true);
    }),
  };
}

const isSame = (reported: Row, known: Row, version: readonly string[]) =>
  version.every(
    (column) =>
      (reported[column] ?? null) === null ||
      (known[column] ?? null) === null ||
      reported[column] === known[column],
  );

/** Completes items that were read in part by the stored rows, which it locks. */
async function completeFromStored<Item extends LoadedItem>(
  tx: Transaction,
  tables: Tables,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const partly = items.filter(({ missing }) => missing !== null);
  if (partly.length === 0) return items;
  const { key } = shapeOf(tables.table);
  const rows = partly.map(({ row }) => row);
  const own = await storedByKey(tx, tables.table, { columns: key, rows }, 'for update of stored');
  const children: Map<string, Row[]>[] = [];
  for (const { table, parentKey } of tables.children) {
    const parents = rows.map((row) => parentOf(row, key, parentKey));
    children.push(await storedByKey(tx, table, { columns: parentKey, rows: parents }));
  }
  return items.map((item) => {
    const text = keyText(item.row, key);
    const [row] = item.missing === null ? [] : (own.get(text) ?? []);
    if (row === undefined) return item;
    return completeItem(
      item,
      { row, children: children.map((sets) => sets.get(text) ?? []) },
      tables,
    );
  });
}

/** The key of a row, as its child rows name it. */
const parentOf = (row: Row, key: readonly string[], parentKey: readonly string[]): Row =>
  Object.fromEntries(key.map((column, at) => [parentKey[at], row[column]]));

/** The observations that may change something, several of one address as one, oldest page first. */
async function findNewValues(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<Changes> {
  const byHash = new Map<string, AddressObservation>();
  for (const observation of observations) {
    const before = byHash.get(observation.row.hash);
    byHash.set(
      observation.row.hash,
      before === undefined ? observation : mergeObservations(before, observation),
    );
  }
  return findChanges(tx, [...byHash.values()]);
}

/** Writes what pages report of known addresses, and the lists of all. */
async function writeChanges(
  tx: Transaction,
  { ofAdded, ofStored, ofLists }: Changes,
): Promise<void> {
  await upsertObservations(tx, [...ofStored, ...ofLists]);
  for (const list of addressListNames) {
    const link = links[list];
    const members = ofAdded.flatMap((observation) => childRows(observation, list));
    await insert(tx, link.table, members);
    const reported = ofLists.flatMap((observation) => setOf(observation, list) ?? []);
    await replaceChildren(tx, link, await completeLists(tx, link, reported));
  }
}

function setOf(observation: AddressObservation, name: AddressList) {
  const { page_id, lists } = observation;
  const list = lists[name];
  return list && { parent: ownerOf(observation, name), page_id, ...list };
}

function ownerOf({ row }: AddressObservation, name: AddressList) {
  const { kind } = listOf(name);
  return { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
}

function childRows(observation: AddressObservation, name: AddressList): readonly Row[] {
  const { lists, page_id } = observation;
  const rows = lists[name]?.rows ?? [];
  if (rows.length === 0) return rows;
  const own = { ...ownerOf(observation, name), page_id };
  return rows.map((row) => ({ ...row, ...own }));
}

/** One statement, and one more for each set of columns that some observations do not report. */
async function upsertObservations(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<void> {
  const byMissing = Map.groupBy(observations, ({ missing }) => missing.join());
  for (const [missing, alike] of byMissing) {
    const columns = missing.split(',');
    const rows = alike.map(({ row, page_id }) => ({ ...row, page_id }));
    const rule = (column: string) => mergeExpression(column as MergedColumn, columns);
    await upsert(tx, addresses, rows, 'any', rule);
  }
}

/** Members that were not read stay as they are stored. Their addresses are locked by now. */
async function completeLists(
  tx: Transaction,
  { table, setKey }: ChildLink,
  reported: readonly (ChildSet & Pick<ReportedList, 'unread'>)[],
): Promise<readonly ChildSet[]> {
  const inPart = reported.filter(({ unread }) => unread.length > 0);
  if (inPart.length === 0) return reported;
  const given = { columns: setKey, rows: inPart.map(({ parent }) => parent) };
  const stored = await storedByKey(tx, table, given);
  return reported.map((set) => {
    if (set.unread.length === 0) return set;
    const known = stored.get(keyText(set.parent, setKey)) ?? [];
    return { ...set, rows: completeMembers(set.rows, known, set.unread, sameMember) };
  });
}

const links: Readonly<Record<AddressList, ChildLink>> = forLists((name) => {
  const { table, kind } = listOf(name);
  const setKey = ['chain_id', 'address_hash', ...(kind === undefined ? [] : ['kind'])];
  return { table, parent: addresses, setKey, newness: 'set' };
});

interface Changes {
  /** Of addresses that were added as reported, and have no lists yet. */
  readonly ofAdded: readonly AddressObservation[];
  /** Of others: those whose lists are stored as reported, and those whose lists may not be. */
  readonly ofStored: readonly AddressObservation[];
  readonly ofLists: readonly AddressObservation[];
}

/**
 * Adds unknown addresses, and finds those stored otherwise, in one statement. Most are stored as reported: read
 * here, they need no lock (a write), no insert that meets them, and no look at their lists. What another transaction
 * writes meanwhile counts as later; an address that it has just added has no change here, and goes the long way.
 */
async function findChanges(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<Changes> {
  const whole = observations.filter(isWhole);
  if (whole.length === 0) return { ofAdded: [], ofStored: [], ofLists: observations };
  const shown = whole.map((observation, at) => ({
    ...observation.row,
    ...listValues(observation),
    at,
    page_id: observation.page_id,
  }));
  const { rows } = await tx.execute<{ at: number; change: Change }>(sql`
    with excluded as materialized (
      select * from ${recordset('reported', observedShape, observedColumns, shown)}
    ), looked as materialized (
      select *, ${sql.raw(changeOf)} as change from excluded
    ), added as (
      ${sql.raw(insertUnknown)}
    )
    select at, case when hash in (select hash from added) then 'added' else change end as change
    from looked
    where change is distinct from 'nothing'
  `);
  const those = (...what: readonly Change[]) =>
    rows.flatMap(({ at, change }) => (what.includes(change) ? (whole[at] ?? []) : []));
  return {
    ofAdded: those('added'),
    ofStored: those('columns'),
    ofLists: [...those('lists', null), ...observations.filter((one) => !isWhole(one))],
  };
}

/** What of an observation was not stored yet, at most; null: its address, which another transaction adds. */
type Change = 'added' | 'columns' | 'lists' | null;

/** What was read in part is completed by what is stored: it goes the long way. */
const isWhole = ({ missing, lists }: AddressObservation) =>
  missing.length === 0 && addressListNames.every((name) => !lists[name]?.unread.length);

const shape = shapeOf(addresses);
/** An observation, with its place among all and its lists. */
const observedShape = {
  ...shape,
  types: {
    ...shape.types,
    at: 'int',
    ...forLists(() => 'jsonb'),
  },
};
const addressColumns = [...shape.key, 'page_id', ...mergedColumns];
const observedColumns = [...addressColumns, 'at', ...addressListNames];

/** The members of a list as the check compares them: in the order of their places, and of these columns. */
const memberColumns = (name: AddressList) => ['position', ...Object.keys(listOf(name).columns)];
const columnsByList = forLists(memberColumns);

/** As SQL: adds the addresses that were not found, in the order of their keys, so that no two deadlock. */
const insertUnknown = `
  insert into ${shape.name} as t (${columnList(addressColumns)}, first_seen_at, updated_at)
  select ${columnList(addressColumns)}, now(), now() from looked
  where change is null
  order by ${columnList(shape.key)}
  on conflict do nothing
  returning hash`;

const listValues = ({ lists }: AddressObservation) =>
  forLists((name) =>
    lists[name]?.rows.map((member) => columnsByList[name].map((column) => member[column] ?? null)),
  );

const storedMembers = (name: AddressList, what = '') => `
  select ${what} from ${shapeOf(links[name].table).name} as member
  where member.chain_id = excluded.chain_id and member.address_hash = excluded.hash
    ${listOf(name).kind === undefined ? '' : `and member.kind = '${listOf(name).kind}'`}`;

const storedList = (name: AddressList) =>
  `coalesce((${storedMembers(
    name,
    `jsonb_agg(jsonb_build_array(${columnList(columnsByList[name], 'member.')}) order by position)`,
  )}), '[]')`;

/** As SQL: what of an observation, a row `excluded`, is not stored yet by the rules of its merge. */
const changeOf = `(
  select case
    when not (${addressListNames
      .map(
        (name) =>
          `(excluded.${name} is null or case when excluded.${name} = '[]' then not exists (${storedMembers(name)}) else excluded.${name} = ${storedList(name)} end)`,
      )
      .join(' and ')}) then 'lists'
    when (${columnList(mergedColumns, 't.')})
         is distinct from (${mergedColumns.map((column) => mergeExpression(column)).join(', ')})
      then 'columns'
    else 'nothing'
  end
  from ${shape.name} as t
  where ${keyMatch(shape.key, 't', 'excluded')}
)`;
