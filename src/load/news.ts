import { sql } from 'drizzle-orm';
import { mergedColumns, mergeExpression } from '../address/merge.ts';
import { addressLists, type AddressList, type AddressObservation } from '../address/observe.ts';
import { addresses } from '../address/tables.ts';
import type { Transaction } from '../db/transaction.ts';
import { kinds, links } from './address-lists.ts';
import { keyMatch, list, recordsOf, shapeOf } from './statement.ts';

/** Observations that may change something. */
export interface News {
  /** Of addresses of which nothing is stored. */
  readonly ofAbsent: readonly AddressObservation[];
  /** Of others: those whose lists are stored as they are told, and those whose lists may not be. */
  readonly ofStored: readonly AddressObservation[];
  readonly ofLists: readonly AddressObservation[];
}

/** Who knows nothing of what is stored writes all. */
export const allNews = (observations: readonly AddressObservation[]): News => ({
  ofAbsent: [],
  ofStored: [],
  ofLists: observations,
});

/**
 * Of one observation per address those that may change something. Most tell again what is stored: read
 * here, they need no lock, which would be a write, and no look at the address's lists one by one. What
 * another transaction writes after this look is as if it came after the observation.
 */
export async function tellingNews(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<News> {
  if (observations.length === 0) return allNews([]);
  const { open, spell, close } = records;
  const told = observations.flatMap((observation, at) =>
    isWhole(observation)
      ? [{ ...observation.row, ...spellLists(observation), at, page_id: observation.page_id }]
      : [],
  );
  const { rows } = await tx.execute<{ at: number; told: Told }>(sql`/* news of addresses */
    select at, told
    from (
      select at, ${sql.raw(toldOf)} as told
      from ${sql.raw(open)}${spell(told)}${sql.raw(close)} as excluded
      -- So that each address is looked at once.
      offset 0
    ) as looked
    where told is distinct from 'lists'
  `);
  const stored = new Map(rows.map((row) => [row.at, row.told]));
  const those = (what: Told | undefined) => observations.filter((_, at) => stored.get(at) === what);
  return { ofAbsent: those(null), ofStored: those('columns'), ofLists: those(undefined) };
}

/** What of an observation is not stored yet, at most; null: its address. */
type Told = 'nothing' | 'columns' | 'lists' | null;

/** What was read in part is completed by what is stored: it goes the long way. */
const isWhole = ({ untold, inPart }: AddressObservation) =>
  untold.length === 0 && Object.keys(inPart).length === 0;

const shape = shapeOf(addresses);
const records = recordsOf(
  {
    ...shape,
    types: {
      ...shape.types,
      at: 'int',
      ...Object.fromEntries(addressLists.map((name) => [name, 'jsonb'])),
    },
  },
  ['chain_id', 'hash', 'page_id', 'at', ...mergedColumns, ...addressLists],
);

/** The members of a list as the check spells them: in the order of the columns, and of their places. */
const columnsOf = (name: AddressList) =>
  Object.keys(shapeOf(links[name].table).types).filter((column) => !owned.has(column));
const owned: ReadonlySet<string> = new Set(
  'chain_id address_hash kind page_id first_seen_at updated_at digest digest_before'.split(' '),
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

const storedList = (name: AddressList) => `(
  select jsonb_agg(jsonb_build_array(${list(columnsOf(name), 'member.')}) order by position)
  from ${shapeOf(links[name].table).name} as member
  where member.chain_id = excluded.chain_id and member.address_hash = excluded.hash
    ${kinds[name] === undefined ? '' : `and member.kind = '${kinds[name]}'`}
)`;

/** As SQL: what an observation, a row `excluded`, tells by the rules of its merge that is not stored. */
const toldOf = `(
  select case
    when not (${addressLists
      .map(
        (name) =>
          `(excluded.${name} is null or excluded.${name} = coalesce(${storedList(name)}, '[]'))`,
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
