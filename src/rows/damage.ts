import { sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { addresses } from '../address/tables.ts';
import { digestOfRow, keyOf, tableName } from '../db/digest.ts';
import { transact, type Database, type Transaction } from '../db/transaction.ts';
import { kinds } from '../lists/index.ts';
import { chains } from '../lists/tables.ts';
import { rollUpAnew } from '../rollups/roll.ts';
import { comparedCounts, countedTables, missingAddresses } from './check.ts';

/**
 * Notes every damage to rows, and what is to be read again for it, in one transaction:
 *
 * - Rows that are not as the program wrote them are taken out; `etl.damage` keeps them. Left in place,
 *   a value that the service tells seldom, such as an address's name, would stay.
 * - The ledger of rows is brought to what is there.
 * - What held damaged rows is no longer proved: blocks of user operations until a walk that begins
 *   later has read them, batches by being unread, factories until the next ranking. So plain `verify`
 *   names them, and whoever reads next mends them, however often it is killed.
 *
 * No page is committed meanwhile.
 *
 * @returns how many entries of `etl.damage` it made, by table
 */
export async function noteDamage(db: Database): Promise<ReadonlyMap<string, number>> {
  return transact(db, async (tx) => {
    // Who commits a page, or retries an item, locks its walk's row first.
    await tx.execute(sql`lock table etl.walks in exclusive mode`);
    const changed: PgTable[] = [];
    for (const table of countedTables) if (await noteCounts(tx, table)) changed.push(table);
    for (const kind of Object.values(kinds)) await kind.keepDamaged(tx, changed);
    for (const table of changed) await takeOutChanged(tx, table);
    await takeOutChains(tx);
    await noteMissingAddresses(tx);
    const { rows } = await tx.execute<{ table: string; found: number }>(sql`
      select table_name as table, count(*)::float8 as found
      from etl.damage where found_at = now()
      group by table_name
      order by table_name
    `);
    if (rows.length > 0) {
      await rollUpAnew(tx);
      const emptied = new Set<PgTable>();
      for (const kind of Object.values(kinds)) {
        for (const table of await kind.rereadDamaged(tx)) emptied.add(table);
      }
      const found = new Set(rows.map(({ table }) => table));
      for (const table of countedTables) {
        const touched = [table, ...parentsOf(table)].some((each) => found.has(tableName(each)));
        if (touched || emptied.has(table)) await correctLedger(tx, table);
      }
    }
    return new Map(rows.map(({ table, found }) => [table, found]));
  });
}

/** The tables whose rows take a table's rows with them when they go. */
const parentsOf = (table: PgTable): PgTable[] =>
  getTableConfig(table).foreignKeys.map((key) => key.reference().foreignTable);

/**
 * Notes moments of which other rows are there than the ledger has.
 *
 * @returns whether any row is not as the program wrote it
 */
async function noteCounts(tx: Transaction, table: PgTable): Promise<boolean> {
  const { rows } = await tx.execute<{ has_changed: boolean }>(sql`
    with compared as materialized (${comparedCounts(table)}), noted as (
      insert into etl.damage (
        chain_id, table_name, finding, first_seen_at, rows, first_page_id, last_page_id
      )
      select chain_id, ${tableName(table)}, 'count', first_seen_at, present - noted, first_page_id, last_page_id
      from compared
      where present <> noted or difference <> 0
    )
    select coalesce(bool_or(changed > 0), false) as has_changed from compared
  `);
  return rows[0]?.has_changed ?? false;
}

async function takeOutChanged(tx: Transaction, table: PgTable): Promise<void> {
  await tx.execute(sql`
    with changed as (
      delete from ${sql.raw(tableName(table))} as t
      where digest is distinct from ${sql.raw(digestOfRow(table))}
      returning t.*
    )
    insert into etl.damage (
      chain_id, table_name, finding, key, row, first_seen_at, first_page_id, last_page_id
    )
    select chain_id, ${tableName(table)}, 'changed', ${keyOf(table, 'changed')}, to_jsonb(changed),
           first_seen_at, page_id, page_id
    from changed
  `);
}

/** Whoever knows the configuration writes them again. */
async function takeOutChains(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    with changed as (
      delete from explorer.chains as t
      where digest is distinct from ${sql.raw(digestOfRow(chains))}
      returning t.*
    )
    insert into etl.damage (chain_id, table_name, finding, key, row)
    select chain_id, 'explorer.chains', 'changed', json_build_object('chain_id', chain_id),
           to_jsonb(changed)
    from changed
  `);
}

async function noteMissingAddresses(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    insert into etl.damage (chain_id, table_name, finding, key)
    select chain_id, ${tableName(addresses)}, 'gone',
           json_build_object('chain_id', chain_id, 'hash', hash)
    from (${missingAddresses}) as missing
    where not exists (
      select from etl.damage
      where found_at = now() and table_name = ${tableName(addresses)}
        and damage.chain_id = missing.chain_id and key ->> 'hash' = missing.hash
    )
  `);
}

/** Brings the ledger of rows to what a table holds, where that is known to be right. */
async function correctLedger(tx: Pick<Transaction, 'execute'>, table: PgTable): Promise<void> {
  await tx.execute(sql`
    insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests)
    select chain_id, ${tableName(table)}, first_seen_at, present - noted, difference
    from (${comparedCounts(table)}) as compared
    where present <> noted or difference <> 0
  `);
}
