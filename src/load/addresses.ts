import { sql, type SQL } from 'drizzle-orm';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';
import {
  isSameList,
  isSameRow,
  mergeIntoStored,
  mergeObservations,
  type StoredAddress,
} from './address-merge.ts';
import {
  type AddressList,
  addressListNames,
  type AddressObservation,
  type AddressRow,
  forLists,
  listOf,
} from './address.ts';
import { type ChildLink, type ChildSet, replaceChildren } from './children.ts';
import { addresses } from './tables.ts';
import { columnList, insert, keyMatch, recordset, shapeOf, upsert } from './upsert.ts';

/**
 * Merges observations, the oldest first, into the stored addresses. Most are stored as reported: these are read, and
 * not locked, which is a write. The others are locked and read again, since another transaction may change them.
 */
export async function loadAddresses(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<void> {
  if (observations.length === 0) return;
  const byHash = new Map<string, AddressObservation>();
  for (const observation of observations) {
    const { hash } = observation.row;
    const before = byHash.get(hash);
    byHash.set(hash, before === undefined ? observation : mergeObservations(before, observation));
  }
  const reported = [...byHash.values()];
  const { added, known } = await addUnknown(tx, reported);
  const open = reported.filter((observation) => {
    const { hash } = observation.row;
    const stored = known.get(hash);
    // What another transaction has just added is not seen yet.
    if (stored === undefined) return !added.has(hash);
    return hasChanges(stored, mergeIntoStored(stored, observation));
  });
  const locked = await lockStored(tx, open);
  const merged = open.flatMap((observation) => {
    const stored = locked.get(observation.row.hash);
    return stored === undefined ? [] : [{ stored, now: mergeIntoStored(stored, observation) }];
  });
  await upsert(
    tx,
    addresses,
    merged.map(({ now }) => rowOf(now)),
    'any',
  );
  for (const list of addressListNames) {
    const link = links[list];
    const sets = reported.flatMap((observation) =>
      added.has(observation.row.hash) ? (setOf(observation, list) ?? []) : [],
    );
    await insert(
      tx,
      link.table,
      sets.flatMap(({ parent, page_id, rows }) =>
        rows.map((row) => ({ ...row, ...parent, page_id })),
      ),
    );
    const changed = merged.filter(
      ({ stored, now }) => !isSameList(stored.lists[list], now.lists[list]),
    );
    await replaceChildren(
      tx,
      link,
      changed.flatMap(({ now }) => setOf(now, list) ?? []),
    );
  }
}

const hasChanges = (stored: StoredAddress, now: StoredAddress) =>
  !isSameRow(stored.row, now.row) ||
  addressListNames.some((list) => !isSameList(stored.lists[list], now.lists[list]));

const rowOf = ({ row, page_id }: StoredAddress) => ({ ...row, page_id });

function setOf({ row, page_id, lists }: StoredAddress, name: AddressList): ChildSet | null {
  const list = lists[name];
  const { kind } = listOf(name);
  const parent = { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
  return list && { parent, page_id, rows: list.rows };
}

const links: Readonly<Record<AddressList, ChildLink>> = forLists((name) => {
  const { table, kind } = listOf(name);
  const setKey = ['chain_id', 'address_hash', ...(kind === undefined ? [] : ['kind'])];
  return { table, parent: addresses, setKey, newness: 'set' };
});

const shape = shapeOf(addresses);
const givenShape = { ...shape, types: { ...shape.types, reported: 'text[]' } };
const given = (observations: readonly AddressObservation[]) =>
  recordset(
    'given',
    givenShape,
    [...shape.columns, 'reported'],
    observations.map((observation) => {
      const { lists } = observation;
      return { ...rowOf(observation), reported: addressListNames.filter((name) => lists[name]) };
    }),
  );

const provenanceColumns = ['page_id', 'first_seen_at', 'updated_at'];
const without = (columns: readonly string[]) => `array['${columns.join("', '")}']`;

/** As SQL: a list of an address, if it is reported: other lists are not looked at. */
function storedList(name: AddressList): string {
  const { table, kind } = listOf(name);
  const owner = links[name].setKey;
  return `'${name}', case when '${name}' = any(reported) then (
    select coalesce(jsonb_agg(to_jsonb(member) - ${without([...owner, ...provenanceColumns])} order by position), '[]')
    from ${shapeOf(table).name} as member
    where member.chain_id = stored.chain_id and member.address_hash = stored.hash
      ${kind === undefined ? '' : `and member.kind = '${kind}'`}
  ) end`;
}

/** As SQL: the rows `given` as they are stored, with the lists that are reported. */
const storedOf = (from: SQL) => sql`
  select ${sql.raw(`stored.hash, stored.page_id, (to_jsonb(stored) - ${without(provenanceColumns)})::text as row,
         jsonb_build_object(${addressListNames.map(storedList).join(', ')})::text as lists
  from ${shape.name} as stored`)}
  join ${from} on ${sql.raw(keyMatch(shape.key, 'stored', 'given'))}`;

type StoredRow = Record<'hash' | 'page_id' | 'row' | 'lists', string>;

function readStored({ page_id, ...stored }: StoredRow): StoredAddress {
  const lists = parseExactly(stored.lists) as Readonly<Record<AddressList, Row[] | null>>;
  return {
    page_id: Number(page_id),
    row: parseExactly(stored.row) as AddressRow,
    lists: forLists((name) => lists[name] && { rows: lists[name], unread: [] }),
  };
}

const byHashOf = (rows: readonly StoredRow[]): ReadonlyMap<string, StoredAddress> =>
  new Map(rows.map((row) => [row.hash, readStored(row)]));

/** Adds the addresses of which none is stored, in the order of their keys, so that no two deadlock; reads the others. */
async function addUnknown(tx: Transaction, reported: readonly AddressObservation[]) {
  const columns = sql.raw(columnList(shape.columns));
  const { rows } = await tx.execute<StoredRow>(sql`
    with given as materialized (
      select * from ${given(reported)}
    ), added as (
      insert into ${sql.raw(shape.name)} (${columns}, first_seen_at, updated_at)
      select ${columns}, now(), now() from given
      order by ${sql.raw(columnList(shape.key))}
      on conflict do nothing
      returning hash
    )
    select hash, null as page_id, null as row, null as lists from added
    union all
    ${storedOf(sql`given`)}
  `);
  const [added, known] = [rows.filter(({ row }) => row === null), rows.filter(({ row }) => row)];
  return { added: new Set(added.map(({ hash }) => hash)), known: byHashOf(known) };
}

async function lockStored(tx: Transaction, reported: readonly AddressObservation[]) {
  if (reported.length === 0) return byHashOf([]);
  const { rows } = await tx.execute<StoredRow>(sql`
    ${storedOf(given(reported))} order by stored.hash for update of stored
  `);
  return byHashOf(rows);
}
