import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../db/column-types.ts';
import type { Feed } from '../feed.ts';
import type { NumberedColumns, Operation } from '../operation.ts';
import { operations } from '../registry.ts';

/** A numbered list, as its declaration names it. */
export interface NumberedList extends NumberedColumns {
  readonly name: string;
  readonly table: PgTable;
}

/** @throws if the list is of another kind */
export function listOf({ name, table, batches }: Operation): NumberedList {
  if (batches === null) throw new Error(`the list of ${name} is not numbered`);
  return { name, table, ...batches };
}

/** As SQL: the list's tables of blocks and of states, and the column of a block's number. */
export const tablesOf = ({ table, states, number }: NumberedList) => ({
  blocks: sql.raw(tableName(table)),
  states: sql.raw(tableName(states)),
  number: sql.raw(`"${number}"`),
});

export const tablesOfFeed = ({ operation }: Feed) => tablesOf(listOf(operations[operation]));

/** The feed that lists the numbers themselves; null: none is declared. */
export function listingOf({ chain_id, operation }: Feed): string | null {
  const { listed } = listOf(operations[operation]);
  return listed === null ? null : `${chain_id}/${listed.operation}`;
}
