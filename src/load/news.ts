import { sql } from 'drizzle-orm';
import { mergedColumns, mergeExpression } from '../address/merge.ts';
import { addressLists, type AddressList, type AddressObservation } from '../address/observe.ts';
import { addresses } from '../address/tables.ts';
import type { Transaction } from '../db/transaction.ts';
import { kinds, links } from './address-lists.ts';
import { keyMatch, list, recordset, shapeOf } from './statement.ts';
import { insertStatement } from './upsert.ts';

/** Observations that may change something. */
export interface News {
  /** Of addresses that were added as they are told, and have no lists yet. */
  readonly ofAdded: readonly AddressObservation[];
  /** Of others: those whose lists are stored as they are told, and those whose lists may not be. */
  readonly ofStored: readonly AddressObservation[];
  readonly ofLists: readonly AddressObservation[];
}

/**
 * Adds addresses of which nothing is stored, and finds those of which something else is. Most are told
 * as they are stored: read here, they need no lock, which would be a write, and no look at the address's lists
 * one by one. What another transaction writes after this look is as if it came after the observation; one
 * that adds the same address is waited for, so nothing is taken for new that is not.
 */
export async function tellingNews(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<News> {
  const whole = observations.filter(isWhole);
  if (whole.length === 0) return { ofAdded: [], ofStored: [], ofLists: observations };
  const inserting = insertStatement(
    addresses,
    whole.map(({ row, page_id }) => ({ ...row, page_id })),
  );
  const added = inserting === null ? [] : (await tx.execute<{ hash: string }>(inserting)).rows;
  const shown = whole.map((observation, at) => ({
    ...observation.row,
    ...spellLists(observation),
    at,
    page_id: observation.page_id,
  }));
  const { rows: looked } = await tx.execute<{ at: number; told: Told }>(sql`/* news of addresses */
    select at, told
    from (
      select at, ${sql.raw(toldOf)} as told
      from ${recordset('excluded', toldShape, toldColumns, shown)}
      -- So that each address is looked at once.
      offset 0
    ) as looked
    where told is distinct from 'nothing'
  `);
  const isNew = new Set(added.map(({ hash }) => hash));
  const those = (...what: readonly Told[]) =>
    looked.flatMap(({ at, told }) => (what.includes(told) ? (whole[at] ?? []) : []));
  return {
    ofAdded: whole.filter(({ row }) => isNew.has(row.hash)),
    ofStored: those('columns'),
    // Also where somebody deleted the address between the two statements.
    ofLists: [...those('lists', null), ...observations.filter((one) => !isWhole(one))],
  };
}

/** What of an observation is not stored yet, at most; null: its address. */
type Told = 'nothing' | 'columns' | 'lists' | null;

/** What was read in part is completed by what is stored: it goes the long way. */
const isWhole = ({ untold, inPart }: AddressObservation) =>
  untold.length === 0 && Object.keys(inPart).length === 0;

const shape = shapeOf(addresses);
/** An observation, with its place among all and its lists. */
const toldShape = {
  ...shape,
  types: {
    ...shape.types,
    at: 'int',
    ...Object.fromEntries(addressLists.map((name) => [name, 'jsonb'])),
  },
};
const toldColumns = ['chain_id', 'hash', 'page_id', 'at', ...mergedColumns, ...addressLists];

/** The members of a list as the check spells them: in the order of the columns, and of their places. */
const columnsOf = (name: AddressList) =>
  Object.keys(shapeOf(links[name].table).types).filter((column) => !owned.has(column));
const owned: ReadonlySet<string> = new Set(
  'chain_id address_hash kind page_id first_seen_at updated_at'.split(' '),
);

const columnsByList = new Map(addressLists.map((name) => [name, columnsOf(name)]));

/** The lists that an observation tells, each as a list of values. */
function spellLists({ lists }: AddressObservation) {
  return Object.fromEntries(
    addressLists.map((name) => [
      name,
      lists[name]?.map((member) =>
        columnsByList.get(name)?.map((column) => member[column] ?? null),
      ),
    ]),
  );
}

const membersOf = (name: AddressList, what = '') => `
  select ${what} from ${shapeOf(links[name].table).name} as member
  where member.chain_id = excluded.chain_id and member.address_hash = excluded.hash
    ${kinds[name] === undefined ? '' : `and member.kind = '${kinds[name]}'`}`;

const storedList = (name: AddressList) =>
  `coalesce((${membersOf(
    name,
    `jsonb_agg(jsonb_build_array(${list(columnsOf(name), 'member.')}) order by position)`,
  )}), '[]')`;

/** As SQL: what an observation, a row `excluded`, tells by the rules of its merge that is not stored. */
const toldOf = `(
  select case
    -- The transaction has just added it.
    when t.page_id = excluded.page_id and t.first_seen_at = now() then 'nothing'
    when not (${addressLists
      .map(
        (name) =>
          `(excluded.${name} is null or case when excluded.${name} = '[]' then not exists (${membersOf(name)}) else excluded.${name} = ${storedList(name)} end)`,
      )
      .join(' and ')}) then 'lists'
    when (${list(mergedColumns, 't.')})
         is distinct from (${mergedColumns.map((column) => mergeExpression(column, [])).join(', ')})
      then 'columns'
    else 'nothing'
  end
  from ${shape.name} as t
  where ${keyMatch(shape.key, 't', 'excluded')}
)`;
