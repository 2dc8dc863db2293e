import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { largestBodyBytes, usualBodyBytes } from '../explorer/response.ts';
import { lanes } from '../lists/tables.ts';
import { addToCoverage } from './checkpoint.ts';
import type { NormalisedPage } from './page.ts';
import { z } from 'zod';

/** zstd's default leaves a fifth of a page in 0.15 ms; gzip takes three times as long. Its frames say what they are. */
export const packBody: (body: Buffer) => Promise<Buffer> = promisify(zstdCompress);

/** Larger bodies were never packed. Synchronous: a thread hand-off costs more than the work. @throws if it is damaged */
export const unpackBody = (body: Buffer): Buffer =>
  zstdDecompressSync(body, { maxOutputLength: largestBodyBytes, chunkSize: usualBodyBytes });

/** Stores the packed bodies of the pages that have one. */
export async function archiveBodies(
  tx: Transaction,
  read: readonly { readonly page: Pick<NormalisedPage, 'page_id'>; readonly body: Buffer | null }[],
): Promise<void> {
  const bodies = read.filter(({ body }) => body !== null);
  if (bodies.length === 0) return;
  await tx.execute(sql`
    insert into etl.raw_pages (page_id, body)
    select page_id, body
    from unnest(
           ${sql.param(bodies.map(({ page }) => page.page_id))}::bigint[],
           ${sql.param(bodies.map(({ body }) => body))}::bytea[]
         ) as raw(page_id, body)
  `);
}

/** Bodies per transaction: some 10 MB. */
const deletedAtOnce = 1_000;

/**
 * Deletes bodies stored more than `days` before `at`, oldest first, in batches, and returns how many. They must be
 * that old by the database's clock too: one wrong clock must not delete what was paid for.
 */
export async function expireArchive(
  db: Database,
  days: number | null,
  at: Date,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce && !signal.aborted;) {
    deleted = days === null ? 0 : await deleteOldest(db, days, at);
    total += deleted;
  }
  return total;
}

const deleteOldest = (db: Database, days: number, at: Date): Promise<number> =>
  transact(db, async (tx) => {
    const rows = await execute(tx).rows(() =>
      z.object({ feed: z.string(), lane: z.enum(lanes), bytes: z.number(), bodies: z.number() }),
    )`
      with old as (
        select page_id from etl.raw_pages
        where stored_at < least(${at.toISOString()}::timestamptz, now()) - make_interval(days => ${days})
        order by stored_at
        limit ${deletedAtOnce}
        for update skip locked
      ), gone as (
        delete from etl.raw_pages using old
        where raw_pages.page_id = old.page_id
        returning raw_pages.page_id, octet_length(body) as freed_bytes
      ), freed as (
        select walk_id, sum(freed_bytes) as bytes, count(*) as bodies
        from gone join etl.pages on pages.id = gone.page_id
        group by walk_id
      ), noted as (
        update etl.walks set archived_bytes = archived_bytes - freed.bytes
        from freed
        where walks.id = freed.walk_id
        returning feed, lane, freed.bytes, freed.bodies
      )
      select feed, lane, sum(bytes)::float8 as bytes, sum(bodies)::float8 as bodies
      from noted
      group by feed, lane
      order by feed, lane
    `;
    for (const { bytes, ...lane } of rows) {
      await addToCoverage(tx, lane, { archived_bytes: -bytes });
    }
    return rows.reduce((sum, { bodies }) => sum + bodies, 0);
  });
