import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../db/row.ts';
import {
  addressListNames,
  type AddressObservation,
  type AddressRow,
  forLists,
  type ReportedList,
  reputationConstant,
} from './address.ts';

type Lends = (reported: Row, known: Row) => boolean;

/** Of an address's list: one that says the same in all that was reported. Positions are taken from the new one. */
export const sameMember: Lends = (reported, known) =>
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
  const knownAt = new Map(known.map((row) => [positionOf(row), row]));
  const reportedAt = new Set(reported.map(positionOf));
  const completed = reported.map((row) => {
    const before = wanted.has(positionOf(row)) ? knownAt.get(positionOf(row)) : undefined;
    return before !== undefined && lends(row, before) ? fill(row, before, Object.keys(row)) : row;
  });
  const kept = known.filter(
    (row) => wanted.has(positionOf(row)) && !reportedAt.has(positionOf(row)),
  );
  return [...completed, ...kept];
}

const positionOf = (row: Row) => Number(row['position'] ?? 0);

/** A row with those of the columns that it has null in as another row has them. */
export const fill = (row: Row, known: Row, columns: readonly string[]): Row => ({
  ...row,
  ...Object.fromEntries(
    columns.filter((column) => row[column] === null).map((column) => [column, known[column]]),
  ),
});

/** How a new observation of an address meets what is known (`docs/addresses.md` explains why). */
interface Rule {
  /** The value of two observations in one transaction; `isReported`: the newer one is informed, and read the value. */
  readonly merge: (before: unknown, after: unknown, isReported: boolean) => unknown;
  /** The same over stored `t` and `excluded`, as SQL. */
  readonly sql: (column: string) => string;
}

const informing = ['name', 'is_contract', 'is_verified', 'proxy_type'] as const;
const isInformed = (row: AddressRow) => informing.some((column) => row[column] !== null);
const stub = (row: string) => informing.map((c) => `${row}.${c} is null`).join(' and ');
/** As SQL. A page that is decoded by other declarations meets what it wrote itself. */
const isNewer = 'excluded.page_id >= t.page_id';

/**
 * The newest informed observation wins, null included; these change both ways. A stub, in which all of them and
 * is_contract are null, says nothing; nor does a value that was not read.
 */
const latest: Rule = {
  merge: (before, after, isReported) => (isReported ? after : before),
  sql: (column) =>
    `case when not (${stub('excluded')}) and (${isNewer} or (${stub('t')})) then excluded.${column} else t.${column} end`,
};
/** The newest value that is not null wins; most places print null for all. */
const latestKnown: Rule = {
  merge: (before, after) => after ?? before,
  sql: (column) =>
    `case when ${isNewer} then coalesce(excluded.${column}, t.${column}) else coalesce(t.${column}, excluded.${column}) end`,
};
/** Most places print a constant false, so only true says something. */
const onceTrue: Rule = {
  merge: (before, after) => before === true || (after ?? before),
  sql: (column) => `greatest(t.${column}, excluded.${column})`,
};
/** Most places print a constant `ok`, which never erases another value. */
const notConstant: Rule = {
  merge: (before, after) =>
    after === null || (after === reputationConstant && before !== null) ? before : after,
  sql: (column) =>
    `case when t.${column} is null or (t.${column} = '${reputationConstant}' and excluded.${column} is not null) then excluded.${column} when excluded.${column} is null or excluded.${column} = '${reputationConstant}' or not (${isNewer}) then t.${column} else excluded.${column} end`,
};

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

export type MergedColumn = keyof typeof rules;
export const mergedColumns = Object.keys(rules) as MergedColumn[];

/** A column's rule as SQL; `missing` columns stay as stored. */
export const mergeExpression = (column: MergedColumn, missing: readonly string[] = []): string =>
  missing.includes(column) ? `t.${column}` : rules[column].sql(column);

/** Two observations of one address in the pages of one transaction, as one. */
export function mergeObservations(
  older: AddressObservation,
  newer: AddressObservation,
): AddressObservation {
  if (sayTheSame(older, newer)) return newer;
  const informed = isInformed(newer.row);
  const choose = (column: MergedColumn): unknown =>
    rules[column].merge(
      older.row[column],
      newer.row[column],
      informed && !newer.missing.includes(column),
    );
  return {
    page_id: newer.page_id,
    row: { ...newer.row, ...Object.fromEntries(mergedColumns.map((c) => [c, choose(c)])) },
    lists: forLists((list) => mergeLists(older.lists[list], newer.lists[list])),
    missing: mergeMissing(older, newer),
  };
}

/** Whether two observations that were read whole say the same, as most do that stand on one page. */
const sayTheSame = (older: AddressObservation, newer: AddressObservation): boolean =>
  older.missing.length + newer.missing.length === 0 &&
  mergedColumns.every((column) => isSame(older.row[column], newer.row[column])) &&
  addressListNames.every((name) => isSameList(older.lists[name], newer.lists[name]));

const isSameList = (a: ReportedList | null, b: ReportedList | null): boolean =>
  a === null || b === null
    ? a === b
    : a.unread.length + b.unread.length === 0 && isSame(a.rows, b.rows);

const isSame = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b) && a.length + b.length === 0) return true;
  return typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b);
};

function mergeMissing(older: AddressObservation, newer: AddressObservation) {
  if (!isInformed(newer.row)) return older.missing;
  if (!isInformed(older.row)) return newer.missing;
  return newer.missing.filter((column) => older.missing.includes(column));
}

function mergeLists(known: ReportedList | null, reported: ReportedList | null) {
  if (reported === null) return known;
  const { rows, unread } = reported;
  if (unread.length === 0 || known === null) return reported;
  return {
    rows: completeMembers(rows, known.rows, unread, sameMember),
    unread: unread.filter((position) => known.unread.includes(position)),
  };
}
