import type { PgTable } from 'drizzle-orm/pg-core';
import {
  addressImplementations,
  addresses,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
} from '../address/tables.ts';
import { mergedColumns, mergeExpression, mergeObservations } from '../address/merge.ts';
import { addressLists, type AddressList, type AddressObservation } from '../address/observe.ts';
import { post, type Transaction } from '../db/transaction.ts';
import { replaceChildren, type ChildLink } from './children.ts';
import { upsertStatement } from './upsert.ts';
import type { WrittenSights } from './written-sights.ts';

const linkOf = (table: PgTable, setKey = ['chain_id', 'address_hash']): ChildLink => ({
  table,
  parent: addresses,
  setKey,
  newness: 'set',
});
const labelSet = ['chain_id', 'address_hash', 'kind'];
const links: Readonly<Record<AddressList, ChildLink>> = {
  implementations: linkOf(addressImplementations),
  metadata_tags: linkOf(addressMetadataTags),
  private_labels: linkOf(addressLabels, labelSet),
  public_labels: linkOf(addressLabels, labelSet),
  watchlist_names: linkOf(addressWatchlistNames),
};
const kinds: Partial<Record<AddressList, string>> = {
  private_labels: 'private',
  public_labels: 'public',
};

const merged: ReadonlySet<string> = new Set(mergedColumns);

/**
 * Brings sights of addresses, oldest page first, into their tables: several sights of one address
 * become one, which then meets the stored row, both by the rules of `address/merge.ts`.
 *
 * @param written what a sole writer has written so far; without it, there may be others
 */
export async function loadAddresses(
  tx: Transaction,
  observations: readonly AddressObservation[],
  written?: WrittenSights,
): Promise<void> {
  const byHash = new Map<string, AddressObservation>();
  for (const sight of observations) {
    const before = byHash.get(sight.row.hash);
    byHash.set(sight.row.hash, before === undefined ? sight : mergeObservations(before, sight));
  }
  const seen = [...byHash.values()];
  const sights = written?.unwritten(seen) ?? seen;
  const statement = upsertStatement(
    addresses,
    sights.map(({ row, page_id }) => ({ ...row, page_id })),
    {
      rule: (column) =>
        merged.has(column)
          ? mergeExpression(column as (typeof mergedColumns)[number])
          : `excluded."${column}"`,
      newerOnly: false,
    },
  );
  if (statement === null) return;
  await post(tx, statement);
  for (const list of addressLists) {
    const kind = kinds[list];
    const told = sights.flatMap(({ row, page_id, lists }) => {
      const rows = lists[list];
      const parent = { chain_id: row.chain_id, address_hash: row.hash, ...(kind && { kind }) };
      return rows === null ? [] : [{ parent, page_id, rows }];
    });
    await replaceChildren(tx, links[list], told);
  }
}
