import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';

/** Which quarantined items; a list that is empty names all. */
export interface QuarantineFilter {
  readonly chains: readonly number[];
  readonly operations: readonly string[];
  readonly ids: readonly number[];
  /** A part of the reason. */
  readonly reason: string | null;
}

export interface QuarantinedEntry {
  readonly id: number;
  readonly feed: string;
  readonly batch: number | null;
  readonly reason: string;
  /** The page that served it, the newest one if several did. */
  readonly page_id: number;
  /** ISO 8601. */
  readonly first_seen_at: string;
  readonly raw: unknown;
}

export const newestPage = sql`coalesce(quarantine.last_page_id, quarantine.page_id)`;

/** What was dropped is named by its id or not at all. */
export const matches = ({ chains, operations: names, ids, reason }: QuarantineFilter): SQL => sql`
  (${chains.length === 0} or quarantine.chain_id = any(${sql.param(chains)}::bigint[]))
  and (${names.length === 0} or quarantine.operation = any(${sql.param(names)}::text[]))
  and (${ids.length === 0} or quarantine.id = any(${sql.param(ids)}::bigint[]))
  and (${reason}::text is null or strpos(quarantine.reason, ${reason}) > 0)
  and (quarantine.dropped_at is null or ${ids.length > 0})
`;

/** The items in quarantine, the oldest first. */
export async function listQuarantined(
  db: Database,
  filter: QuarantineFilter,
): Promise<QuarantinedEntry[]> {
  const { rows } = await db.execute<{ entry: Omit<QuarantinedEntry, 'raw'>; raw: string }>(sql`
    select json_build_object(
      'id', id,
      'feed', feed,
      'batch', (scope ->> 'batch')::bigint,
      'reason', reason,
      'page_id', ${newestPage},
      'first_seen_at', first_seen_at
    ) as entry, raw::text as raw
    from etl.quarantine
    where ${matches(filter)}
    order by id
  `);
  return rows.map(({ entry, raw }) => ({ ...entry, raw: parseExactly(raw) }));
}

/** Drops open items and counts them. Each counts as missing until its place is read without it. */
export async function dropQuarantined(db: Database, filter: QuarantineFilter): Promise<number> {
  const { rows } = await db.execute(sql`
    update etl.quarantine set dropped_at = now()
    where ${matches(filter)} and dropped_at is null
    returning id
  `);
  return rows.length;
}
