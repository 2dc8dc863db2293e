import { addresses } from '../address/tables.ts';
import { mergedColumns, mergeExpression, mergeObservations } from '../address/merge.ts';
import { completeMembers, sameMember } from '../address/members.ts';
import { addressLists, type AddressList, type AddressObservation } from '../address/observe.ts';
import type { Row } from '../db/row.ts';
import { isPosting, post, type Transaction } from '../db/transaction.ts';
import { kinds, links } from './address-lists.ts';
import { replaceChildren, type ChildLink, type ChildSet } from './children.ts';
import { storedRows } from './complete.ts';
import { allNews, tellingNews, type News } from './news.ts';
import { upsertStatement } from './upsert.ts';
import type { WrittenObservations } from './written-observations.ts';

const merged: ReadonlySet<string> = new Set(mergedColumns);

/**
 * Of what pages show of addresses, oldest page first, that which may change something: several observations
 * of one address become one, which then meets the stored row, both by the rules of `address/merge.ts`.
 *
 * @param written what a sole writer has written so far; without it, there may be others
 */
export async function newsOf(
  tx: Transaction,
  observations: readonly AddressObservation[],
  written?: WrittenObservations,
): Promise<News> {
  const byHash = new Map<string, AddressObservation>();
  for (const observation of observations) {
    const before = byHash.get(observation.row.hash);
    byHash.set(
      observation.row.hash,
      before === undefined ? observation : mergeObservations(before, observation),
    );
  }
  const seen = [...byHash.values()];
  const unwritten = written?.unwritten(seen) ?? seen;
  // Who posts its statements waits for no answer; it writes alone, and remembers.
  return isPosting(tx) ? allNews(unwritten) : tellingNews(tx, unwritten);
}

/** Writes addresses, and the lists that are told of them. */
export async function writeNews(
  tx: Transaction,
  { ofAbsent, ofStored, ofLists }: News,
): Promise<void> {
  await upsertObservations(tx, [...ofAbsent, ...ofStored, ...ofLists]);
  // Also of what was absent when it was looked at: another may have stored it since, and told no list.
  const telling = [...ofAbsent, ...ofLists];
  for (const list of addressLists) {
    const told = telling.flatMap((observation) => setOf(observation, list) ?? []);
    await replaceChildren(tx, links[list], await completeLists(tx, links[list], told));
  }
}

/** The list that an observation tells; null where it tells nothing of it. */
function setOf({ row, page_id, lists, inPart }: AddressObservation, name: AddressList) {
  const [rows, kind] = [lists[name], kinds[name]];
  const parent = { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
  return rows === null ? null : { parent, page_id, rows, inPart: inPart[name] };
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
        newerOnly: false,
      },
    );
    if (statement !== null) await post(tx, statement);
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
