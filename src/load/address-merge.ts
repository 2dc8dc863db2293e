import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import { execute, type Row, type Transaction } from '../db/transaction.ts';
import {
  type AddressList,
  addressListNames,
  type AddressObservation,
  forLists,
  listOf,
  type ReportedList,
  reputationConstant,
} from './address.ts';
import { addresses } from './tables.ts';
import {
  type ChildLink,
  type ChildSet,
  columnList,
  insert,
  insertOf,
  keyMatch,
  membersOf,
  rowKey,
  recordset,
  replaceChildren,
  shapeOf,
  storedByKey,
  upsert,
} from './upsert.ts';
import { z } from 'zod';

type Lends = (reported: Row, known: Row) => boolean;

/** Whether a stored list member equals the reported one in every reported column. */
const sameMember: Lends = (reported, known) =>
  Object.entries(reported).every(
    ([column, value]) => value === null || JSON.stringify(value) === JSON.stringify(known[column]),
  );

/** The reported list; members at `positions` (none: 0) keep what is known and was not read. */
export function completeMembers(
  reported: readonly Row[],
  known: readonly Row[],
  positions: readonly number[],
  lends: Lends,
): Row[] {
  const wanted = new Set(positions);
  const unread = known.filter((row) => wanted.has(positionOf(row)));
  const left = new Map(unread.map((row) => [positionOf(row), row]));
  const completed = reported.map((row) => {
    const before = left.get(positionOf(row));
    left.delete(positionOf(row));
    return before !== undefined && lends(row, before) ? fill(row, before, Object.keys(row)) : row;
  });
  return [...completed, ...left.values()];
}

const positionOf = (row: Row) => Number(row['position'] ?? 0);

/** Fills these columns of a row, if null, from another row. */
export const fill = (row: Row, known: Row, columns: readonly string[]): Row => ({
  ...row,
  ...Object.fromEntries(
    columns.filter((column) => row[column] === null).map((column) => [column, known[column]]),
  ),
});

/**
 * How a new observation of an address meets the stored row, `excluded` and `t`, as SQL (`docs/addresses.md` explains
 * why).
 */
type Rule = (column: string) => string;

const informing = ['name', 'is_contract', 'is_verified', 'proxy_type'] as const;
const stub = (row: string) => informing.map((c) => `${row}.${c} is null`).join(' and ');
/** As SQL. A page that is decoded by other declarations meets what it wrote itself. */
const isNewer = 'excluded.page_id >= t.page_id';

/**
 * The newest informed observation wins, null included; these change both ways. A stub, in which all of them and
 * is_contract are null, says nothing; nor does a value that was not read.
 */
const latest: Rule = (column) =>
  `case when not (${stub('excluded')}) and (${isNewer} or (${stub('t')})) then excluded.${column} else t.${column} end`;
/** The newest value that is not null wins; most places print null for all. */
const latestKnown: Rule = (column) =>
  `case when ${isNewer} then coalesce(excluded.${column}, t.${column}) else coalesce(t.${column}, excluded.${column}) end`;
/** Most places print a constant false, so only true says something. */
const onceTrue: Rule = (column) => `greatest(t.${column}, excluded.${column})`;
/** Most places print a constant `ok`, which never erases another value. */
const notConstant: Rule = (column) =>
  `case when t.${column} is null or (t.${column} = '${reputationConstant}' and excluded.${column} is not null) then excluded.${column} when excluded.${column} is null or excluded.${column} = '${reputationConstant}' or not (${isNewer}) then t.${column} else excluded.${column} end`;

const rules = {
  name: latest,
  // True and false both win; a null is no observation of it.
  is_contract: latestKnown,
  is_verified: latest,
  proxy_type: latest,
  ens_domain_name: latestKnown,
  extra: latestKnown,
  is_scam: onceTrue,
  reputation: notConstant,
} as const satisfies Record<string, Rule>;

type MergedColumn = keyof typeof rules;
const mergedColumns = Object.keys(rules) as MergedColumn[];

/**
 * Writes what pages report of addresses, oldest page first: each round takes the next observation of every address, so
 * that it meets what the one before left. Almost all of an address say the same, and take one round. Only a round locks
 * in the order of keys: of two transactions that deadlock over several, the one that loses is repeated.
 */
export async function writeObservations(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<void> {
  const byAddress = Map.groupBy(observations, ({ row }) => row.hash);
  let queues = [...byAddress.values()].map((all): Queue => ({ left: withoutBare(all), met: [] }));
  while (queues.length > 0) {
    const next = queues.flatMap(({ left: [first] }) => first ?? []);
    const changes = await findChanges(tx, next);
    await writeChanges(tx, changes);
    queues = queues
      .map((queue) => afterFirst(queue, changes))
      .filter(({ left }) => left.length > 0);
  }
}

/** What is left of what pages report of an address. */
interface Queue {
  readonly left: readonly AddressObservation[];
  /** What changes nothing of what is stored now, if it is said again: by any later page, or only by the same one. */
  readonly met: readonly { readonly one: AddressObservation; readonly isSamePage: boolean }[];
}

/** The queue once its first observation is written, without those that change nothing any more. */
function afterFirst({ left: [first, ...later], met }: Queue, changes: Changes): Queue {
  if (first === undefined) return { left: [], met };
  const change = changes.get(first);
  const stillMet = change === undefined || change === 'older' ? met : [];
  // A page that is newer than what is stored may change more.
  const isSamePage = change !== undefined && change !== 'added';
  const known = [...stillMet, { one: first, isSamePage }];
  const isMet = (other: AddressObservation) =>
    known.some(
      (seen) =>
        (!seen.isSamePage || seen.one.page_id === other.page_id) && sayTheSame(seen.one, other),
    );
  const at = later.findIndex((other) => !isMet(other));
  return { left: at === -1 ? [] : later.slice(at), met: known };
}

/** A bare hash says nothing of an address that another observation adds. */
function withoutBare(queue: readonly AddressObservation[]): readonly AddressObservation[] {
  const informative = queue.filter(
    ({ row, lists, missing }) =>
      missing.length > 0 ||
      mergedColumns.some((column) => row[column] !== null) ||
      addressListNames.some((name) => lists[name] !== null),
  );
  return informative.length === 0 ? queue.slice(0, 1) : informative;
}

const sayTheSame = (older: AddressObservation, newer: AddressObservation): boolean =>
  isSame(older.missing, newer.missing) &&
  mergedColumns.every((column) => isSame(older.row[column], newer.row[column])) &&
  addressListNames.every((name) => isSame(older.lists[name], newer.lists[name]));

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b));

/** Writes what pages report of known addresses, and the lists of all. */
async function writeChanges(tx: Transaction, changes: Changes): Promise<void> {
  const those = (what: Change) =>
    [...changes].flatMap(([observation, change]) => (change === what ? observation : []));
  const [ofAdded, ofLists] = [those('added'), those('lists')];
  await upsertObservations(tx, [...those('columns'), ...ofLists]);
  for (const name of addressListNames) {
    const link = links[name];
    await insert(tx, link.table, membersOf(setsOf(ofAdded, name)));
    await replaceChildren(tx, link, await completeLists(tx, link, setsOf(ofLists, name)));
  }
}

/** What observations report of one list. */
const setsOf = (observations: readonly AddressObservation[], name: AddressList) =>
  observations.flatMap(({ row, page_id, lists }) => {
    const list = lists[name];
    if (list === null) return [];
    const { kind } = listOf(name);
    const parent = { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
    return [{ parent, page_id, ...list }];
  });

/** One statement, and one more for each set of columns that some observations do not report. */
async function upsertObservations(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<void> {
  const byMissing = Map.groupBy(observations, ({ missing }) => missing.join());
  for (const [missing, alike] of byMissing) {
    const unread = missing.split(',');
    const rows = alike.map(({ row, page_id }) => ({ ...row, page_id }));
    // What was not read stays as it is stored.
    const rule = (column: string) =>
      unread.includes(column) ? `t.${column}` : rules[column as MergedColumn](column);
    await upsert(tx, addresses, rows, 'any', null, rule);
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
  const parents = inPart.map(({ parent }) => parent);
  const stored = await storedByKey(tx, table, setKey, parents);
  return reported.map((set) => {
    if (set.unread.length === 0) return set;
    const known = stored.get(rowKey(set.parent, setKey)) ?? [];
    return { ...set, rows: completeMembers(set.rows, known, set.unread, sameMember) };
  });
}

const links: Readonly<Record<AddressList, ChildLink>> = forLists((name) => {
  const { table, kind } = listOf(name);
  const setKey = ['chain_id', 'address_hash', ...(kind === undefined ? [] : ['kind'])];
  return { table, parent: addresses, setKey, newness: 'set' };
});

/**
 * The most that is not stored of an observation: its address, which is added without lists; some columns; its lists, as
 * far as is known; or nothing, although its page is older than the stored row's.
 */
const changeShape = () => z.enum(['added', 'columns', 'lists', 'older']);
type Change = z.infer<ReturnType<typeof changeShape>>;
/** Without what changes nothing. */
type Changes = ReadonlyMap<AddressObservation, Change>;

/**
 * Adds unknown addresses, and finds those stored otherwise, in one statement. Most are stored as reported: this read
 * saves their lock (a write), a conflicting insert, and a check of their lists. What another transaction writes
 * meanwhile counts as later; an address that it has just added takes the slow path.
 */
async function findChanges(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<Changes> {
  const whole = observations.filter(isWhole);
  const changes = new Map<AddressObservation, Change>();
  for (const one of observations) if (!isWhole(one)) changes.set(one, 'lists');
  if (whole.length === 0) return changes;
  const shown = whole.map((observation, at) => ({
    ...observation.row,
    ...listValues(observation),
    at,
    page_id: observation.page_id,
  }));
  const rows = await execute(tx).rows(() => z.object({ at: z.number(), change: changeShape() }))`
    with excluded as materialized (
      select * from ${recordset('reported', observedShape, observedColumns, shown)}
    ), looked as materialized (
      select *, ${sql.raw(changeOf)} as change from excluded
    ), added as (
      ${insertOf(addresses, addressColumns, sql`looked where change is null`)}
      on conflict do nothing
      returning hash
    )
    select at,
           case when hash in (select hash from added) then 'added' else coalesce(change, 'lists') end
             as change
    from looked
    where change is distinct from 'nothing'
  `;
  for (const { at, change } of rows) {
    const observation = whole[at];
    if (observation !== undefined) changes.set(observation, change);
  }
  return changes;
}

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
         is distinct from (${mergedColumns.map((column) => rules[column](column)).join(', ')})
      then 'columns'
    when not (${isNewer}) then 'older'
    else 'nothing'
  end
  from ${shape.name} as t
  where ${keyMatch(shape.key, 't', 'excluded')}
)`;
