import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../db/row.ts';
import {
  type AddressObservation,
  type AddressRow,
  forLists,
  type ReportedList,
  reputationConstant,
} from './address.ts';

type Lends = (reported: Row, known: Row) => boolean;

/** Of an address's list: one that says the same in all that was reported. Positions are taken from the new one. */
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

/**
 * How a new observation of an address meets an older one (`docs/addresses.md` explains why); `isReported`: the newer one
 * is informed, and read the value.
 */
type Rule = (before: unknown, after: unknown, isReported: boolean) => unknown;

/**
 * The newest informed observation wins, null included; these change both ways. A stub, in which all of them and
 * is_contract are null, says nothing; nor does a value that was not read.
 */
const latest: Rule = (before, after, isReported) => (isReported ? after : before);
/** The newest value that is not null wins; most places print null for all. */
const latestKnown: Rule = (before, after) => after ?? before;
/** Most places print a constant false, so only true says something. */
const onceTrue: Rule = (before, after) => before === true || (after ?? before);
/** Most places print a constant `ok`, which never erases another value. */
const notConstant: Rule = (before, after) =>
  after === null || (after === reputationConstant && before !== null) ? before : after;

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
} as const satisfies Partial<Record<keyof AddressRow, Rule>>;
const mergedColumns = Object.keys(rules) as (keyof typeof rules)[];

const informing = ['name', 'is_contract', 'is_verified', 'proxy_type'] as const;
const isInformed = (row: AddressRow) => informing.some((column) => row[column] !== null);

function mergeRows(older: AddressRow, newer: AddressRow, missing: readonly string[]): AddressRow {
  const informed = isInformed(newer);
  const merged: Record<string, unknown> = { ...newer };
  for (const column of mergedColumns) {
    const isReported = informed && !missing.includes(column);
    merged[column] = rules[column](older[column], newer[column], isReported);
  }
  return merged as AddressRow;
}

/** Two observations of one address in the pages of one transaction, as one. */
export const mergeObservations = (
  older: AddressObservation,
  newer: AddressObservation,
): AddressObservation => ({
  page_id: newer.page_id,
  row: mergeRows(older.row, newer.row, newer.missing),
  lists: forLists((list) => mergeLists(older.lists[list], newer.lists[list])),
  missing: mergeMissing(older, newer),
});

/** An address as it is stored, with the lists that an observation reports. */
export type StoredAddress = Omit<AddressObservation, 'missing'>;

/**
 * What an observation leaves of a stored address, whose page may be newer: then it fills what that one left open. Which
 * of two lists is newer is found where they are written.
 */
export const mergeIntoStored = (
  stored: StoredAddress,
  reported: AddressObservation,
): StoredAddress => ({
  page_id: reported.page_id,
  row:
    reported.page_id < stored.page_id
      ? mergeRows(reported.row, stored.row, [])
      : mergeRows(stored.row, reported.row, reported.missing),
  lists: forLists((list) => mergeLists(stored.lists[list], reported.lists[list])),
});

export const isSameRow = (a: AddressRow, b: AddressRow): boolean =>
  mergedColumns.every((column) => isSame(a[column], b[column]));

export const isSameList = (a: ReportedList | null, b: ReportedList | null): boolean =>
  isSame(a?.rows, b?.rows);

/** Most are the same value, which costs less to see. */
const isSame = (a: unknown, b: unknown) => a === b || isDeepStrictEqual(a, b);

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
