import { sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import {
  addresses,
  addressImplementations,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
} from '../address/tables.ts';
import { digestOf, digestOfRow, keyOf, tableName } from '../db/digest.ts';
import { layoutOf } from '../db/layout.ts';
import type { RowFinding } from '../documents/row-finding.ts';
import { transact, type Database, type Transaction } from '../db/transaction.ts';
import { largeTable, operationNames, operations } from '../operations/index.ts';
import { chains } from '../lists/tables.ts';

/** The tables whose rows the ledger counts; those that refer to others come first. */
export const countedTables: readonly PgTable[] = [
  addressImplementations,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
  addresses,
  ...operationNames.flatMap((name) => operations[name].tables),
];

/** A primary key. */
type Key = Extract<RowFinding, { kind: 'row-changed' }>['key'];

/** What a check of all rows found. */
export interface RowReport {
  readonly tables: number;
  readonly rows: number;
  readonly findings: readonly RowFinding[];
  /** How many more there are than are listed. */
  readonly unlisted: number;
  /** Whether every table and column is there. */
  readonly isReadable: boolean;
}

/** Findings of one kind that are listed of a table: more are no news to a person. */
const mostListed = 1_000;

/**
 * Computes every row's digest again, and holds the rows that there are against the ledger. Changes
 * nothing, so it runs on a standby too; one snapshot, so that workers may go on meanwhile. Several servers
 * have no snapshot in common: where rows are spread, no page is committed meanwhile.
 */
export async function checkRows(db: Database): Promise<RowReport> {
  const isSpread = (await layoutOf(db.$client, largeTable)) === 'distributed';
  return transact(db, async (tx) => {
    await tx.execute(sql`set transaction isolation level repeatable read, read only`);
    // Who commits a page locks its walk's row; a lock takes no snapshot, so what it waited for is seen.
    if (isSpread) await tx.execute(sql`lock table etl.walks in share mode`);
    const findings: RowFinding[] = [];
    let [rows, unlisted] = [0, 0];
    const lost = await lostTables(tx);
    findings.push(...lost.values());
    for (const table of countedTables) {
      if (lost.has(tableName(table))) continue;
      const counted = await countRows(tx, table);
      rows += counted.rows;
      const changed = counted.changed === 0 ? [] : await changedRows(tx, table);
      findings.push(...changed, ...counted.findings);
      unlisted += counted.changed - changed.length + counted.unlisted;
    }
    if (lost.size === 0) {
      findings.push(...(await changedChains(tx)), ...(await unknownAddresses(tx)));
    }
    return {
      tables: countedTables.length + 1,
      rows,
      findings,
      unlisted,
      isReadable: lost.size === 0,
    };
  });
}

/** Tables that are not there, or lack a column, by name. */
async function lostTables(tx: Transaction): Promise<Map<string, RowFinding>> {
  const wanted = [...countedTables, chains].flatMap((table) => {
    const { schema, name, columns } = getTableConfig(table);
    return columns.map((column) => ({ schema, name, column: column.name }));
  });
  const { rows } = await tx.execute<{ name: string; columns: string[]; is_gone: boolean }>(sql`
    select schema || '.' || name as name, array_agg("column") as columns,
           to_regclass(schema || '.' || name) is null as is_gone
    from json_to_recordset(${JSON.stringify(wanted)}::json)
      as wanted(schema text, name text, "column" text)
    where not exists (
      select from pg_attribute
      where attrelid = to_regclass(schema || '.' || name)
        and attname = "column" and not attisdropped
    )
    group by schema, name
    order by 1
  `);
  return new Map(
    rows.map(({ name, columns, is_gone }) => [
      name,
      is_gone
        ? { kind: 'table-gone', table: name }
        : { kind: 'columns-gone', table: name, columns },
    ]),
  );
}

/**
 * As SQL: the rows of each moment as they are and as the ledger has them, with the pages that
 * brought them. A row that was changed in place still counts: its digest is named elsewhere.
 */
export const comparedCounts = (table: PgTable) => sql`
  select chain_id, first_seen_at, coalesce(present.rows, 0) as present,
         coalesce(noted.rows, 0) as noted, coalesce(changed, 0) as changed,
         coalesce(present.digests, 0) - coalesce(noted.digests, 0) as difference,
         first_page_id, last_page_id
  from (
    select chain_id, first_seen_at, count(*) as rows, coalesce(sum(digest), 0) as digests,
           count(*) filter (where digest is distinct from ${sql.raw(digestOfRow(table))}) as changed
    from ${sql.raw(tableName(table))} as t
    group by chain_id, first_seen_at
  ) as present
  full join (
    select chain_id, first_seen_at, sum(rows)::bigint as rows, sum(digests) as digests,
           min(first_page_id) as first_page_id, max(last_page_id) as last_page_id
    from etl.row_counts
    where table_name = ${tableName(table)}
    group by chain_id, first_seen_at
  ) as noted using (chain_id, first_seen_at)
`;

interface Counted {
  readonly rows: number;
  readonly changed: number;
  readonly findings: readonly RowFinding[];
  readonly unlisted: number;
}

async function countRows(tx: Transaction, table: PgTable): Promise<Counted> {
  const { rows } = await tx.execute<{
    rows: number;
    changed: number;
    differing: number;
    findings: RowFinding[];
  }>(sql`
    with compared as materialized (${comparedCounts(table)}), differing as (
      select * from compared where present <> noted or difference <> 0
    ), listed as (
      select * from differing order by chain_id, first_seen_at limit ${mostListed}
    )
    select coalesce(sum(present), 0)::float8 as rows, coalesce(sum(changed), 0)::float8 as changed,
           (select count(*) from differing)::float8 as differing,
           (
             select coalesce(json_agg(${countFinding(table)} order by chain_id, first_seen_at), '[]')
             from listed
             left join lateral (${pagesThen}) as place on true
           ) as findings
    from compared
  `);
  const { rows: total = 0, changed = 0, differing = 0, findings = [] } = rows[0] ?? {};
  return {
    rows: total,
    changed,
    findings,
    unlisted: differing - findings.length,
  };
}

/** What is wrong with a moment's rows that are not those of the ledger, a row of `listed`: a `RowFinding`. */
const countFinding = (table: PgTable) => sql`
  jsonb_build_object(
    'table', ${tableName(table)}::text, 'chain_id', chain_id, 'first_seen_at', first_seen_at,
    'sources', coalesce(sources, '[]')
  ) || case
    when present < noted
      then jsonb_build_object('kind', 'rows-gone', 'rows', noted - present, 'written', noted)
    when present > noted then jsonb_build_object('kind', 'rows-added', 'rows', present - noted)
    else jsonb_build_object('kind', 'rows-older', 'rows', present)
  end
`;

/** Where the rows of a moment, a row of `listed`, came from. */
const pagesThen = sql`
  select jsonb_agg(to_jsonb(walk) order by walk_id) as sources
  from (
    select walks.feed, batch, pages.walk_id, min(pages.bottom) as from_block,
           max(pages.top) as to_block,
           min(pages.id) as first_page_id, max(pages.id) as last_page_id
    from etl.pages
    join etl.walks on walks.id = pages.walk_id
    where pages.id between first_page_id and last_page_id
      and walk_id in (
        select walk_id from etl.pages where id in (first_page_id, last_page_id)
      )
    group by walks.feed, batch, pages.walk_id
  ) as walk
`;

async function changedRows(tx: Transaction, table: PgTable): Promise<RowFinding[]> {
  const { rows } = await tx.execute<{ key: Key }>(sql`
    select ${keyOf(table, 't')} as key
    from ${sql.raw(tableName(table))} as t
    where digest is distinct from ${sql.raw(digestOfRow(table))}
    limit ${mostListed}
  `);
  return rows.map(({ key }) => ({ kind: 'row-changed', table: tableName(table), key }));
}

/** The configuration writes chains, and the next sync writes them again. */
async function changedChains(tx: Transaction): Promise<RowFinding[]> {
  const { rows } = await tx.execute<{ chain_id: number; kind: 'row-changed' | 'chain-gone' }>(sql`
    select chain_id::float8 as chain_id, 'row-changed' as kind
    from explorer.chains as t
    where digest is distinct from ${sql.raw(digestOf(chains, (column) => column))}
    union all
    select distinct chain_id::float8, 'chain-gone'
    from etl.feeds
    where not exists (select from explorer.chains where chains.chain_id = feeds.chain_id)
  `);
  return rows.map(({ chain_id, kind }) => ({ kind, table: 'explorer.chains', key: { chain_id } }));
}

/** As SQL: the addresses that rows name and that have no row: each page that names one stores it. */
export const missingAddresses = sql`
  select chain_id, hash
  from (${sql.join(
    operationNames.flatMap((name) => {
      const { table, addressColumns } = operations[name];
      return addressColumns.map((column) =>
        sql.raw(`select chain_id, "${column}" as hash from ${tableName(table)}`),
      );
    }),
    sql` union `,
  )}) as named
  where hash is not null
    and not exists (
      select from explorer.addresses as t where t.chain_id = named.chain_id and t.hash = named.hash
    )
`;

async function unknownAddresses(tx: Transaction): Promise<RowFinding[]> {
  const { rows } = await tx.execute<{ key: Key }>(sql`
    select json_build_object('chain_id', chain_id, 'hash', hash) as key
    from (${missingAddresses}) as missing
    order by chain_id, hash
    limit ${mostListed}
  `);
  return rows.map(({ key }) => ({ kind: 'address-gone', table: 'explorer.addresses', key }));
}
