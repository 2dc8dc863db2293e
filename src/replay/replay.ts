import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { publishChanges } from '../db/changes.ts';
import { execute, type Database, transact } from '../db/transaction.ts';
import { parseBody } from '../explorer/response.ts';
import { hasHistory } from '../lists/index.ts';
import { operationNames, operations } from '../lists/registry.ts';
import { walks } from '../lists/tables.ts';
import { loadPages } from '../load/load.ts';
import {
  notedAs,
  type QuarantineFilter,
  readAgain,
  retryQuarantined,
} from '../quarantine/quarantine.ts';
import { unpackBody } from '../sync/archive.ts';
import { type NormalisedPage, pageFactsShape } from '../sync/page.ts';
import { rowOf } from '../db/column-types.ts';

/** Which archived pages are replayed; a list that is empty means all. */
export type ReplayFilter = Pick<QuarantineFilter, 'chains' | 'operations'>;

const count = z.int().min(0);

/** What a replay did. */
export const replayed = z.strictObject({
  /** Archived pages decoded. */
  pages: count,
  /** Rows added, and rows changed, in the lists' own tables. */
  inserted: count,
  updated: count,
  /** Items that left the quarantine, because this version makes rows of them. */
  released: count,
  /** Items of the pages that still cannot become rows. */
  quarantined: count,
});
export type Replayed = z.infer<typeof replayed>;

const archivedPageShape = () =>
  z.object({
    body: z.instanceof(Buffer),
    page: pageFactsShape()
      .omit({ page_id: true })
      .extend({
        id: z.number(),
        quarantined: z.number(),
        is_ordered: z.boolean(),
        misplaced: z.array(z.number()).nullable(),
      }),
    walk: rowOf(walks),
  });
type ArchivedPage = Readonly<z.infer<ReturnType<typeof archivedPageShape>>>;

/** Pages of one transaction: as many as a walk commits at once, so a worker waits no longer for it. */
const pagesAtOnce = 16;
/** Fewer if their bodies are longer than this together, in bytes: rows take some times as much memory. */
const bytesAtOnce = 8 * 1024 * 1024;

/** How many pages a replay has to decode. */
export async function countArchived(db: Database, filter: ReplayFilter): Promise<number> {
  const where = matches(filter);
  return (
    (await execute(db).value(z.number)`select count(*)::float8 from ${archived} where ${where}`) ??
    0
  );
}

/**
 * Decodes archived pages again and upserts their rows, oldest page first; rows of newer pages stay,
 * and nothing else is concluded. Each transaction may be repeated: a killed replay begins again.
 * @throws `signal.reason` between two transactions, once it aborts
 */
export async function replayArchive(
  db: Database,
  filter: ReplayFilter,
  onProgress: (so: Replayed) => void,
  signal: AbortSignal,
): Promise<Replayed> {
  const total = { pages: 0, inserted: 0, updated: 0, released: 0, quarantined: 0 };
  let last = 0;
  for (;;) {
    signal.throwIfAborted();
    const batch = await pagesAfter(db, filter, last);
    if (batch.length === 0) return total;
    last = batch.at(-1)?.page.id ?? last;
    total.released += await releaseItems(db, batch);
    const { inserted, updated, quarantined } = await upsertPages(db, batch);
    await publishChanges(db, 'announced');
    total.inserted += inserted;
    total.updated += updated;
    total.quarantined += quarantined;
    total.pages += batch.length;
    onProgress({ ...total });
  }
}

const archived = sql`
  etl.raw_pages as raw
  join etl.pages on pages.id = raw.page_id
  join etl.walks on walks.id = pages.walk_id
`;

const replayable = operationNames.filter(hasHistory);

function matches({ chains, operations: chosen }: ReplayFilter): SQL {
  const names = replayable.filter((name) => chosen.length === 0 || chosen.includes(name));
  return sql`
    (${chains.length === 0} or walks.chain_id = any(${sql.param(chains)}::bigint[]))
    and walks.operation = any(${sql.param(names)}::text[])
  `;
}

const pagesAfter = (db: Database, filter: ReplayFilter, last: number) =>
  execute(db).rows(archivedPageShape)`
    select raw.body, to_jsonb(pages.*) as page, to_jsonb(walks) as walk
    from (
      select id, sum(bytes) over (order by id) - bytes as bytes_before
      from (
        select pages.id, pages.bytes
        from ${archived}
        where raw.page_id > ${last} and ${matches(filter)}
        order by raw.page_id
        limit ${pagesAtOnce}
      ) as following
    ) as chosen
    join etl.raw_pages as raw on raw.page_id = chosen.id
    join etl.pages on pages.id = chosen.id
    join etl.walks on walks.id = pages.walk_id
    where bytes_before < ${bytesAtOnce}
    order by pages.id
  `;

/** @returns how many of the items in quarantine that these pages served last became rows */
async function releaseItems(db: Database, batch: readonly ArchivedPage[]): Promise<number> {
  const pages = batch.filter(({ page }) => page.quarantined > 0).map(({ page }) => page.id);
  if (pages.length === 0) return 0;
  const ids = await execute(db).values(z.number)`
    select id::float8 as id from etl.quarantine
    where coalesce(last_page_id, page_id) = any(${sql.param(pages)}::bigint[])
  `;
  if (ids.length === 0) return 0;
  const retried = await retryQuarantined(db, { chains: [], operations: [], ids, reason: null });
  return retried.rows.length;
}

/** Upserts the rows of pages in one transaction. Addresses are in several lists, so pages keep their order. */
async function upsertPages(
  db: Database,
  batch: readonly ArchivedPage[],
): Promise<Omit<Replayed, 'released' | 'pages'>> {
  const decoded = batch.map((archivedPage) => ({
    feed: archivedPage.walk.feed,
    chainId: archivedPage.walk.chain_id,
    operation: operations[archivedPage.walk.operation],
    page: decode(archivedPage),
  }));
  const counts = await transact(db, async (tx) => {
    let [inserted, updated] = [0, 0];
    for (let from = 0; from < decoded.length;) {
      const first = decoded[from];
      if (first === undefined) break;
      const other = decoded.findIndex(({ feed }, at) => at > from && feed !== first.feed);
      const run = decoded.slice(from, other === -1 ? undefined : other);
      const pages = run.map(({ page }) => page);
      for (const page of (await loadPages(tx, first.operation, pages, 'older and own')).values()) {
        inserted += page.inserted;
        updated += page.changed;
      }
      from += run.length;
    }
    return { inserted, updated };
  });
  const quarantined = decoded.reduce((sum, { page }) => sum + page.quarantined.length, 0);
  return { quarantined, ...counts };
}

/** All that is read of a body: whether it was a page was judged when it was fetched. */
const servedPage = z.looseObject({ items: z.array(z.unknown()) });

/** What its neighbours contradict is in the ledger. */
function decode({ body, page, walk }: ArchivedPage): NormalisedPage {
  const { items } = servedPage.parse(parseBody(unpackBody(body)));
  return readAgain({ walk, page: { ...page, page_id: page.id } }, items, notedAs(page));
}
