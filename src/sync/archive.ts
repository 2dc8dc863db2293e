import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { largestBodyBytes } from '../explorer/response.ts';
import type { Lane } from '../lists/tables.ts';
import { addToCoverage } from './checkpoint.ts';

/** Whether the bodies of pages are kept, for a replay. */
export type ArchiveMode = 'off' | 'all';

/** A body as it is kept. */
export interface PackedBody {
  readonly page_id: number;
  readonly body: Buffer;
}

/**
 * How bodies are packed: zstd at its default level leaves a fifth of a page in 0.15 ms; gzip as
 * much in three times the time, and higher levels of either nothing worth theirs.
 */
const encoding = 'zstd';

const compress = promisify(zstdCompress);

export const packBody = (body: Buffer): Promise<Buffer> => compress(body);

/** Most bodies, in bytes: a buffer that need not be joined to others. */
const usualBytes = 64 * 1024;

/** @throws when the body was packed in a way that this version does not know */
export function unpackBody(body: Buffer, packedAs: string): Buffer {
  if (packedAs !== encoding) throw new Error(`an archived body is packed as ${packedAs}`);
  // What the client does not let in was never packed. At once: handing it to another thread and back
  // costs more than it does.
  return zstdDecompressSync(body, { maxOutputLength: largestBodyBytes, chunkSize: usualBytes });
}

/** Keeps the bodies of one transaction's pages. */
export async function archiveBodies(tx: Transaction, bodies: readonly PackedBody[]): Promise<void> {
  if (bodies.length === 0) return;
  await tx.execute(sql`
    insert into etl.raw_pages (page_id, body, encoding)
    select page_id, body, ${encoding}
    from unnest(
           ${sql.param(bodies.map(({ page_id }) => page_id))}::bigint[],
           ${sql.param(bodies.map(({ body }) => body))}::bytea[]
         ) as raw(page_id, body)
  `);
}

/** Bodies deleted in one transaction: some 10 MB, so that none is long. */
const deletedAtOnce = 1_000;

/**
 * Deletes archived bodies of pages that were stored more than `days` before `at`, oldest first, in
 * batches, until none is left or the signal aborts. Only what is so old by the database's clock too:
 * one wrong clock must not delete what was paid for.
 *
 * @returns how many were deleted
 */
export async function expireArchive(
  db: Database,
  days: number | null,
  at: Date,
  signal: AbortSignal,
): Promise<number> {
  if (days === null) return 0;
  let total = 0;
  while (!signal.aborted) {
    const deleted = await deleteOldest(db, days, at);
    total += deleted;
    if (deleted < deletedAtOnce) break;
  }
  return total;
}

async function deleteOldest(db: Database, days: number, at: Date): Promise<number> {
  return transact(db, async (tx) => {
    const { rows } = await tx.execute<{
      feed: string;
      lane: Lane;
      bytes: number;
      bodies: number;
    }>(sql`
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
    `);
    for (const { bytes, ...lane } of rows) {
      await addToCoverage(tx, lane, { archived_bytes: -bytes });
    }
    return rows.reduce((sum, { bodies }) => sum + bodies, 0);
  });
}
