import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { Archived, Explained, Findings, FoundRow, Term } from '../../page/why/facts.ts';
import { archivedItem } from './archived.ts';
import { changesOf } from './changes.ts';
import { originsOf } from './origins.ts';
import { findRows } from './rows.ts';

/** A chain that is copied. */
export interface KnownChain {
  readonly id: number;
  readonly name: string;
}

/** The chains of all feeds, also where the row that names one is gone. */
export async function knownChains(db: Database): Promise<KnownChain[]> {
  const { rows } = await db.execute<{ chain: KnownChain }>(sql`
    select json_build_object('id', chain_id, 'name', coalesce(chains.name, chain_id::text)) as chain
    from (select distinct chain_id from etl.feeds) as feed
    left join explorer.chains using (chain_id)
    order by chain_id
  `);
  return rows.map(({ chain }) => chain);
}

/** Bodies that are looked into: each is decompressed and parsed, some ms. */
const mostBodies = 6;

/** The rows that have it and why they are there, by lookups in indexes alone. */
export async function findWhy(
  db: Database,
  term: Term,
  chains: readonly number[],
): Promise<Findings> {
  const { found, lookedAt } = await findRows(db, term, chains);
  const all = found.flatMap(({ rows }) => rows);
  const origins = await originsOf(db, [...new Set(all.map(({ page_id }) => page_id))]);
  const bodies = new Map<FoundRow, Archived>();
  for (const row of all.slice(0, mostBodies)) bodies.set(row, await archivedItem(db, row));
  const explain = async (row: FoundRow): Promise<Explained> => {
    const origin = origins.get(row.page_id) ?? null;
    const changes = await changesOf(db, row, origin?.feed ?? null);
    return { ...row, origin, archived: bodies.get(row) ?? { is: 'not-looked-at' }, changes };
  };
  const explained = [];
  for (const { rows, ...of } of found) {
    const told = [];
    for (const row of rows) told.push(await explain(row));
    explained.push({ ...of, rows: told });
  }
  return { term, found: explained, lookedAt };
}
