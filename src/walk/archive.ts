import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { largestBodyBytes } from '../explorer/response.ts';

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
