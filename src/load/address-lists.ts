import type { PgTable } from 'drizzle-orm/pg-core';
import type { AddressList } from '../address/observe.ts';
import {
  addressImplementations,
  addresses,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
} from '../address/tables.ts';
import type { ChildLink } from './children.ts';

const linkOf = (table: PgTable, setKey = ['chain_id', 'address_hash']): ChildLink => ({
  table,
  parent: addresses,
  setKey,
  newness: 'set',
});
const labelSet = ['chain_id', 'address_hash', 'kind'];
/** The table of each list of an address, and how its rows point to the address. */
export const links: Readonly<Record<AddressList, ChildLink>> = {
  implementations: linkOf(addressImplementations),
  metadata_tags: linkOf(addressMetadataTags),
  private_labels: linkOf(addressLabels, labelSet),
  public_labels: linkOf(addressLabels, labelSet),
  watchlist_names: linkOf(addressWatchlistNames),
};
/** Of those lists that share a table, which of its rows are theirs. */
export const kinds: Partial<Record<AddressList, string>> = {
  private_labels: 'private',
  public_labels: 'public',
};
