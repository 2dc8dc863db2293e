import { addresses } from '../address/tables.ts';
import { mergedColumns, mergeExpression, mergeObservations } from '../address/merge.ts';
import { completeMembers, sameMember } from '../address/members.ts';
import { addressLists, type AddressList, type AddressObservation } from '../address/observe.ts';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import { kinds, links } from './address-lists.ts';
import { replaceChildren, type ChildLink, type ChildSet } from './children.ts';
import { storedRows } from './complete.ts';
import { tellingNews, type News } from './news.ts';
import { insertStatement, upsertStatement } from './upsert.ts';

const merged: ReadonlySet<string> = new Set(mergedColumns);

/**
 * Of what pages show of addresses, oldest page first, that which may change something: several observations
 * of one address become one, which then meets the stored row, both by the rules of `address/merge.ts`.
 */
export async function newsOf(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<News> {
  const byHash = new Map<string, AddressObservation>();
  for (const observation of observations) {
    const before = byHash.get(observation.row.hash);
    byHash.set(
      observation.row.hash,
      before === undefined ? observation : mergeObservations(before, observation),
    );
  }
  return tellingNews(tx, [...byHash.values()]);
}

/** Writes what is told of addresses beyond those that were added, and the lists that are told of them. */
export async function writeNews(
  tx: Transaction,
  { ofAdded, ofStored, ofLists }: News,
): Promise<void> {
  await upsertObservations(tx, [...ofStored, ...ofLists]);
  for (const list of addressLists) {
    const link = links[list];
    const members = ofAdded.flatMap((observation) => membersOf(observation, list));
    const statement = insertStatement(link.table, members);
    if (statement !== null) await tx.execute(statement);
    const told = ofLists.flatMap((observation) => setOf(observation, list) ?? []);
    await replaceChildren(tx, link, await completeLists(tx, link, told));
  }
}

/** The list that an observation tells; null where it tells nothing of it. */
function setOf(observation: AddressObservation, name: AddressList) {
  const { page_id, lists, inPart } = observation;
  const rows = lists[name];
  return rows && { parent: parentOf(observation, name), page_id, rows, inPart: inPart[name] };
}

function parentOf({ row }: AddressObservation, name: AddressList) {
  const kind = kinds[name];
  return { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
}

/** The members of a list as rows of its table. */
function membersOf(observation: AddressObservation, name: AddressList): readonly Row[] {
  const { lists, page_id } = observation;
  const rows = lists[name] ?? [];
  if (rows.length === 0) return rows;
  const own = { ...parentOf(observation, name), page_id };
  return rows.map((row) => ({ ...row, ...own }));
}

/** One statement, and one more for each set of columns that some observations tell nothing of. */
async function upsertObservations(
  tx: Transaction,
  observations: readonly AddressObservation[],
): Promise<void> {
  const byUntold = Map.groupBy(observations, ({ untold }) => untold.join());
  for (const [untold, alike] of byUntold) {
    const columns = untold.split(',');
    const statement = upsertStatement(
      addresses,
      alike.map(({ row, page_id }) => ({ ...row, page_id })),
      {
        rule: (column) =>
          merged.has(column)
            ? mergeExpression(column as (typeof mergedColumns)[number], columns)
            : `excluded."${column}"`,
        changeable: 'any',
      },
    );
    if (statement !== null) await tx.execute(statement);
  }
}

interface ListInPart extends ChildSet {
  readonly inPart: readonly number[] | undefined;
}

/** Members that were not read stay as they are stored. Their addresses are locked by now. */
async function completeLists(
  tx: Transaction,
  { table, setKey }: ChildLink,
  told: readonly ListInPart[],
): Promise<readonly ChildSet[]> {
  const inPart = told.filter((set) => set.inPart !== undefined);
  if (inPart.length === 0) return told;
  const given = { columns: setKey, rows: inPart.map(({ parent }) => parent) };
  const spell = (row: Row) => JSON.stringify(setKey.map((column) => row[column]));
  const stored = Map.groupBy(await storedRows(tx, table, given), spell);
  return told.map((set) => {
    if (set.inPart === undefined) return set;
    const known = stored.get(spell(set.parent)) ?? [];
    return { ...set, rows: completeMembers(set.rows, known, set.inPart, sameMember) };
  });
}
