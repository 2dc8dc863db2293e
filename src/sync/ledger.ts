import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { largestBodyBytes, usualBodyBytes } from '../explorer/response.ts';
import { kinds } from '../lists/index.ts';
import type { Operation, PageEnd } from '../lists/operation.ts';
import type { WalkRow } from '../lists/tables.ts';
import type { CountsByPage } from '../load/upsert.ts';
import type { NormalisedPage } from './normalise.ts';

export async function recordPages(
  tx: Transaction,
  { kind }: Pick<Operation, 'kind'>,
  walk: WalkRow,
  { pages, counts }: { readonly pages: readonly NormalisedPage[]; readonly counts: CountsByPage },
): Promise<void> {
  const entries = pages.map((page) => ({
    id: page.page_id,
    walk_id: walk.id,
    feed: walk.feed,
    sequence: page.sequence,
    cursor_in: page.cursor_in,
    cursor_out: page.cursor_out,
    items: page.items,
    rows: page.rows.length,
    repeats: page.repeats,
    quarantined: page.quarantined.length,
    inserted: counts.get(page.page_id)?.inserted ?? 0,
    changed: counts.get(page.page_id)?.changed ?? 0,
    top: page.top,
    bottom: page.bottom,
    heights: kinds[kind].decidesMembership ? heightsText(page) : null,
    is_ordered: page.isOrdered,
    is_joined: page.isJoined,
    is_end_reported: page.isEndReported,
    misplaced: page.misplaced.length === 0 ? null : page.misplaced,
    last_key: page.last_key,
    bytes: page.bytes,
    body_hash: page.body_hash,
    attempts: page.attempts,
    latency_ms: page.latency_ms,
    credits: page.attempts * creditsPerRequest,
    fetched_at: page.fetched_at,
  }));
  const columns = sql.raw(Object.keys(entries[0] ?? {}).join(', '));
  await tx.execute(sql`/* ledger */
    insert into etl.pages (${columns})
    select ${columns}
    from json_populate_recordset(null::etl.pages, ${JSON.stringify(entries)}::json)
  `);
}

/** The heights of a page's rows as a multirange: usually one range. */
export function heightsText({ rows }: Pick<NormalisedPage, 'rows'>): string {
  const heights = rows.flatMap(({ height }) => height ?? []).toSorted((a, b) => a - b);
  const starts = heights.filter((height, place) => heights[place - 1] !== height - 1);
  const ends = heights.filter((height, place) => heights[place + 1] !== height + 1);
  return `{${starts.map((start, place) => `[${start},${ends[place]}]`).join(',')}}`;
}

/** Where a page's items end, for comparison with the next page. */
export function endOf(page: NormalisedPage): PageEnd | null {
  const { page_id, bottom, last_key, isEndReported } = page;
  return bottom === null || last_key === null || !isEndReported || !isConclusive(page)
    ? null
    : { page_id, height: bottom, key: last_key };
}

/** Whether the page is in order and all items became rows, so that absence means something. */
export const isConclusive = ({
  isOrdered,
  quarantined,
}: Pick<NormalisedPage, 'isOrdered' | 'quarantined'>) => isOrdered && quarantined.length === 0;

/** The end of a walk's last page; null if it is not conclusive, or says nothing of what follows. */
export async function endBefore(
  tx: Transaction,
  { order }: Operation,
  walk: WalkRow,
): Promise<PageEnd | null> {
  if (order?.givesCoverage !== true || walk.pages === 0) return null;
  const { rows } = await tx.execute<{ page_id: string; height: string; key: string }>(sql`
    select id as page_id, bottom as height, last_key as key
    from etl.pages
    where walk_id = ${walk.id} and sequence = ${walk.pages - 1}
      and is_ordered and is_end_reported and quarantined = 0 and last_key is not null
  `);
  const [row] = rows;
  if (row === undefined) return null;
  return { page_id: Number(row.page_id), height: Number(row.height), key: row.key };
}

/** Stores items that are no rows. The same item met again is the same entry. */
export async function recordQuarantined(
  tx: Transaction,
  walk: WalkRow,
  pages: readonly NormalisedPage[],
): Promise<void> {
  const entries = pages.flatMap((page) =>
    page.quarantined.map((item) => ({
      chain_id: walk.chain_id,
      operation: walk.operation,
      scope: walk.scope.batch === undefined ? {} : { batch: walk.scope.batch },
      ...item,
      page_id: page.page_id,
    })),
  );
  if (entries.length === 0) return;
  await tx.execute(sql`
    insert into etl.quarantine as t (
      chain_id, operation, scope, raw, raw_hash, reason, position, from_block, to_block, page_id,
      last_page_id
    )
    select distinct on (raw_hash)
           chain_id, operation, scope, raw, raw_hash, reason, position, from_block, to_block, page_id,
           max(page_id) over (partition by raw_hash)
    from json_populate_recordset(null::etl.quarantine, ${JSON.stringify(entries)}::json)
    order by raw_hash, page_id
    on conflict (feed, raw_hash, md5(scope::text)) do update
    set last_page_id = excluded.last_page_id
    where coalesce(t.last_page_id, t.page_id) < excluded.last_page_id
  `);
}

export type ArchiveMode = 'off' | 'all';

/** zstd's default leaves a fifth of a page in 0.15 ms; gzip takes three times as long. */
const encoding = 'zstd';

export const packBody: (body: Buffer) => Promise<Buffer> = promisify(zstdCompress);

/** @throws if this version does not know the encoding */
export function unpackBody(body: Buffer, packedAs: string): Buffer {
  if (packedAs !== encoding) throw new Error(`an archived body is packed as ${packedAs}`);
  // Larger bodies were never packed. Synchronous: a thread hand-off costs more than the work.
  return zstdDecompressSync(body, { maxOutputLength: largestBodyBytes, chunkSize: usualBodyBytes });
}

/** Stores the packed bodies of the pages that have one. */
export async function archiveBodies(
  tx: Transaction,
  read: readonly { readonly page: Pick<NormalisedPage, 'page_id'>; readonly body: Buffer | null }[],
): Promise<void> {
  const bodies = read.filter(({ body }) => body !== null);
  if (bodies.length === 0) return;
  await tx.execute(sql`
    insert into etl.raw_pages (page_id, body, encoding)
    select page_id, body, ${encoding}
    from unnest(
           ${sql.param(bodies.map(({ page }) => page.page_id))}::bigint[],
           ${sql.param(bodies.map(({ body }) => body))}::bytea[]
         ) as raw(page_id, body)
  `);
}
