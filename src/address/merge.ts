import {
  addressLists,
  reputationConstant,
  type AddressObservation,
  type AddressRow,
} from './observe.ts';

/**
 * How a new sight of an address meets what is known (`docs/addresses.md` explains why):
 * - `latest`: the newest informed sight wins, null included; these change both ways. A stub, in
 *   which all of them are null, says nothing.
 * - `latest known`: the newest value that is not null wins; most places print null for all.
 * - `once true`: most places print a constant false, so only true says something.
 * - `not constant`: most places print a constant `ok`, which never erases another value.
 */
type Rule = 'latest' | 'latest known' | 'once true' | 'not constant';

const rules = {
  name: 'latest',
  is_contract: 'latest',
  is_verified: 'latest',
  proxy_type: 'latest',
  ens_domain_name: 'latest known',
  extra: 'latest known',
  is_scam: 'once true',
  reputation: 'not constant',
} as const satisfies Record<string, Rule>;

type MergedColumn = keyof typeof rules;
export const mergedColumns = Object.keys(rules) as MergedColumn[];
const latestColumns = mergedColumns.filter((column) => rules[column] === 'latest');

const isInformed = (row: AddressRow) => latestColumns.some((column) => row[column] !== null);

/** Two sights of one address in the pages of one transaction, as one. */
export function mergeObservations(
  older: AddressObservation,
  newer: AddressObservation,
): AddressObservation {
  const informed = isInformed(newer.row);
  const choose = (column: MergedColumn): unknown => {
    const [before, after] = [older.row[column], newer.row[column]];
    switch (rules[column]) {
      case 'latest':
        return informed ? after : before;
      case 'latest known':
        return after ?? before;
      case 'once true':
        return before === true ? true : (after ?? before);
      case 'not constant':
        return after === null || (after === reputationConstant && before !== null) ? before : after;
    }
  };
  const row = { ...newer.row, ...Object.fromEntries(mergedColumns.map((c) => [c, choose(c)])) };
  const lists = Object.fromEntries(
    addressLists.map((list) => [list, newer.lists[list] ?? older.lists[list]]),
  );
  return { page_id: newer.page_id, row, lists: lists as AddressObservation['lists'] };
}

const stub = (row: string) => latestColumns.map((c) => `${row}.${c} is null`).join(' and ');

/**
 * The same rules as an SQL expression over the stored row `t` and the `excluded` one, for
 * `on conflict do update`. There `page_id` tells which sight is newer.
 */
export function mergeExpression(column: MergedColumn): string {
  const newer = `excluded.page_id > t.page_id`;
  switch (rules[column]) {
    case 'latest':
      return `case when not (${stub('excluded')}) and (${newer} or (${stub('t')})) then excluded.${column} else t.${column} end`;
    case 'latest known':
      return `case when ${newer} then coalesce(excluded.${column}, t.${column}) else coalesce(t.${column}, excluded.${column}) end`;
    case 'once true':
      return `greatest(t.${column}, excluded.${column})`;
    case 'not constant':
      return `case when t.${column} is null or (t.${column} = '${reputationConstant}' and excluded.${column} is not null) then excluded.${column} when excluded.${column} is null or excluded.${column} = '${reputationConstant}' or not (${newer}) then t.${column} else excluded.${column} end`;
  }
}
