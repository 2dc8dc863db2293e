import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { publishChanges } from '../db/changes.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';
import { lockEnds } from '../lists/feed.ts';
import { decidesMembership, hasHistory } from '../lists/index.ts';
import { cursorShape, type ItemRows } from '../lists/operation.ts';
import { hasKey, placeColumns, present } from '../lists/positions.ts';
import { operations } from '../lists/registry.ts';
import { walks, type WalkRow } from '../lists/tables.ts';
import { loadPages } from '../load/load.ts';
import { addToCoverage, type WalkAdvance } from '../sync/checkpoint.ts';
import { concludeWalk, heightsText } from '../sync/commit.ts';
import { boundBy, type WalkEnd } from '../sync/judge.ts';
import type { Misplaced } from '../sync/order.ts';
import {
  type NormalisedPage,
  normalisePage,
  reasonsOfPage,
  pageFactsShape,
  type PageFacts,
} from '../sync/page.ts';
import { rowOf } from '../db/column-types.ts';

/** Which quarantined items; a list that is empty names all. */
export interface QuarantineFilter {
  readonly chains: readonly number[];
  readonly operations: readonly string[];
  readonly ids: readonly number[];
  /** A part of the reason. */
  readonly reason: string | null;
}

/** An item, and its feed with the parts of its name. */
const quarantinedItem = z.strictObject({
  id: z.int(),
  feed: z.string(),
  chain_id: z.int(),
  operation: z.string(),
});
type QuarantinedItem = z.infer<typeof quarantinedItem>;

export const detailedItem = quarantinedItem.extend({
  /** The batch that contains it; null: the list has no batches. */
  batch: z.int().nullable(),
  reason: z.string(),
  /** The newest page that contains it. */
  page_id: z.int(),
  /** ISO 8601. */
  first_seen_at: z.string(),
  raw: z.unknown(),
});
type DetailedItem = z.infer<typeof detailedItem>;

const newestPage = sql`coalesce(quarantine.last_page_id, quarantine.page_id)`;

/** Dropped items match only by their id. */
const matches = ({ chains, operations: names, ids, reason }: QuarantineFilter): SQL => sql`
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
): Promise<DetailedItem[]> {
  const rows = await execute(db).rows(() =>
    z.object({ item: detailedItem.omit({ raw: true }), raw: z.string() }),
  )`
    select json_build_object(
      'id', id,
      'feed', feed,
      'chain_id', chain_id,
      'operation', operation,
      'batch', (scope ->> 'batch')::bigint,
      'reason', reason,
      'page_id', ${newestPage},
      'first_seen_at', first_seen_at
    ) as item, raw::text as raw
    from etl.quarantine
    where ${matches(filter)}
    order by id
  `;
  return rows.map(({ item, raw }) => ({ ...item, raw: parseExactly(raw) }));
}

/** Drops open items and counts them. Each counts as missing until its place is read without it. */
export async function dropQuarantined(db: Database, filter: QuarantineFilter): Promise<number> {
  const dropped = await execute(db).values(z.string)`
    update etl.quarantine set dropped_at = now()
    where ${matches(filter)} and dropped_at is null
    returning id
  `;
  return dropped.length;
}

const keptItem = quarantinedItem.extend({ reason: z.string() });

/** What a retry did. */
export const retried = z.strictObject({
  /** Rows added or changed; other rows were current or newer. */
  written: z.int().min(0),
  /** Items released as rows. */
  rows: z.array(quarantinedItem),
  /** Items still in quarantine, and why by the present rules. */
  kept: z.array(keptItem),
});
type Retried = z.infer<typeof retried>;

/**
 * Retries items by the present rules, in one transaction for each page. A row is as of the page
 * that served it, so it never replaces a newer page's; what is still no row stays, with its new
 * reason.
 */
export async function retryQuarantined(db: Database, filter: QuarantineFilter): Promise<Retried> {
  const groups = await execute(db).rows(() =>
    z.object({ page_id: z.string(), ids: z.array(z.string()) }),
  )`
    select ${newestPage} as page_id, array_agg(id order by id) as ids
    from etl.quarantine
    where ${matches(filter)}
    group by 1
    order by 1
  `;
  const pages: Retried[] = [];
  for (const { page_id, ids } of groups) {
    pages.push(await transact(db, (tx) => retryPage(tx, Number(page_id), ids)));
  }
  await publishChanges(db, 'announced');
  return {
    rows: pages.flatMap(({ rows }) => rows),
    written: pages.reduce((sum, { written }) => sum + written, 0),
    kept: pages.flatMap(({ kept }) => kept),
  };
}

interface Origin {
  readonly walk: WalkRow;
  readonly page: PageFacts;
}

/** An item keeps the block that is known if its page contradicts the one that it names, as when the page was written. */
interface OriginOfItems extends Origin {
  readonly misplaced: Misplaced;
  /** Number of items on the walk's earlier pages. */
  readonly itemsBefore: number;
}

/** Which items of a page its neighbours contradict, as the ledger has it. */
export const notedAs = ({ is_ordered, misplaced }: NotedOrder): Misplaced =>
  misplaced ?? (is_ordered ? [] : 'all');

interface NotedOrder {
  readonly is_ordered: boolean;
  readonly misplaced: readonly number[] | null;
}

/** Reads items of a page again by the declarations of this version, as of that page. */
export function readAgain(
  { walk: { operation, chain_id, scope }, page }: Origin,
  items: readonly unknown[],
  misplaced: Misplaced,
): NormalisedPage {
  const place = { chain_id, scope, position: 0, order: null, misplaced };
  return normalisePage(operations[operation], page, items, place);
}

async function retryPage(
  tx: Transaction,
  pageId: number,
  ids: readonly string[],
): Promise<Retried> {
  const origin = await lockOrigin(tx, pageId);
  const stored = await execute(tx).rows(() =>
    keptItem.extend({ raw: z.string(), position: z.int(), is_read_again: z.boolean() }),
  )`
    select id::float8 as id, feed, chain_id::float8 as chain_id, operation, reason, position, raw::text as raw,
           exists (
             select from etl.walks as later
             where later.feed = quarantine.feed and later.state = 'finished'
               and later.id > ${origin?.walk.id ?? null}::bigint and etl.reads_again(later, quarantine)
           ) as is_read_again
    from etl.quarantine
    where id = any(${sql.param(ids)}::bigint[])
    order by id
    for update
  `;
  const isUnranked = origin !== null && (await lacksRanking(tx, origin.walk));
  const items: ItemRows[] = [];
  const rows: QuarantinedItem[] = [];
  const kept: Retried['kept'] = [];
  const gone: string[] = [];
  for (const { reason, raw, position, is_read_again: isReadAgain, ...named } of stored) {
    const read = origin && readAgain(origin, [parseExactly(raw)], misplacedAlone(origin, position));
    const [item] = read?.rows ?? [];
    if (Object.values<string>(reasonsOfPage).includes(reason)) kept.push({ ...named, reason });
    else if (item === undefined) {
      const absent = 'the page that served it is not in the ledger';
      kept.push({ ...named, reason: read?.quarantined[0]?.reason ?? absent });
    } else if (isUnranked) kept.push({ ...named, reason: unranked });
    else {
      items.push(item);
      rows.push(named);
      if (isReadAgain) gone.push(item.key);
    }
  }
  await keepReasons(tx, kept);
  if (origin === null || items.length === 0) return { rows, written: 0, kept };
  const { inserted, changed } = await writeItems(tx, origin, items);
  await removeNew(tx, origin, gone);
  const released = rows.map(({ id }) => id);
  await tx.execute(
    sql`delete from etl.quarantine where id = any(${sql.param(released)}::bigint[])`,
  );
  await addToCoverage(tx, origin.walk, { inserted });
  return { rows, written: inserted + changed, kept };
}

/** A new row whose place a later walk has read, without the item, has left the list. */
async function removeNew(tx: Transaction, { walk, page }: Origin, keys: readonly string[]) {
  const list = operations[walk.operation];
  if (keys.length === 0 || list.order === null || !list.order.givesCoverage) return;
  await tx.execute(sql`
    with ${present}
    update ${placeColumns(list).table} as t set removed_at = present.at
    from present
    where chain_id = ${walk.chain_id} and ${hasKey(list, keys)}
      and page_id = ${page.page_id} and first_seen_at = updated_at
  `);
}

/** What the page says of one of its items, read alone. */
const misplacedAlone = ({ misplaced, itemsBefore }: OriginOfItems, position: number): Misplaced =>
  misplaced === 'all' ? misplaced : misplaced.includes(position - itemsBefore) ? [0] : [];

const unranked = 'it can be read now: retry it after the next ranking, which gives it a rank';

/** Whether no later run has published a ranking: without the item the newest one would count as whole. */
const lacksRanking = async (tx: Transaction, { operation, feed, run_id }: WalkRow) =>
  !hasHistory(operation) &&
  !(await execute(tx).has`
    select from etl.rankings join etl.walks on walks.id = walk_id
    where rankings.feed = ${feed} and run_id > ${run_id}
  `);

/** Locks as page commits do: the feed's ends, then the walk. Null: the ledger lacks the page. */
async function lockOrigin(tx: Transaction, pageId: number): Promise<OriginOfItems | null> {
  const origin = await execute(tx).row(() =>
    z.object({
      walk: rowOf(walks),
      page: pageFactsShape()
        .omit({ page_id: true })
        .extend({ is_ordered: z.boolean(), misplaced: z.array(z.number()).nullable() }),
      items_before: z.number(),
    }),
  )`
    select to_jsonb(walks) as walk, to_jsonb(pages.*) as page, coalesce((
      select sum(items) from etl.pages as earlier
      where walk_id = walks.id and earlier.sequence < pages.sequence
    ), 0)::float8 as items_before
    from etl.pages join etl.walks on walks.id = pages.walk_id
    where pages.id = ${pageId}
  `;
  if (origin === null) return null;
  if (decidesMembership(origin.walk.operation)) await lockEnds(tx, origin.walk);
  await tx.execute(sql`select from etl.walks where id = ${origin.walk.id} for update`);
  const { walk, page, items_before: itemsBefore } = origin;
  const misplaced = notedAs(page);
  return { walk, page: { ...page, page_id: pageId }, misplaced, itemsBefore };
}

async function writeItems(
  tx: Transaction,
  origin: Origin,
  items: readonly ItemRows[],
): Promise<Pick<WalkAdvance, 'inserted' | 'changed'>> {
  const operation = operations[origin.walk.operation];
  const { page_id } = origin.page;
  const counts = await loadPages(tx, operation, [{ page_id, rows: items }]);
  if (decidesMembership(origin.walk.operation)) {
    await addHeights(tx, page_id, items);
    // Before the ledger counts the page as clean: what the walk could conclude was decided when it
    // ended.
    await concludeAgain(tx, origin);
  }
  const { inserted = 0, changed = 0 } = counts.get(page_id) ?? {};
  const rows = new Set(items.map(({ key }) => key)).size;
  await tx.execute(sql`
    with page as (
      update etl.pages
      set rows = rows + ${rows},
          repeats = repeats + ${items.length - rows},
          quarantined = quarantined - ${items.length},
          inserted = inserted + ${inserted},
          changed = changed + ${changed}
      where id = ${page_id}
    )
    update etl.walks
    set quarantined = quarantined - ${items.length},
        inserted = inserted + ${inserted},
        changed = changed + ${changed}
    where id = ${origin.walk.id}
  `);
  return { inserted, changed };
}

/** The page has served these blocks too: what is not served is no longer in the batch. */
async function addHeights(
  tx: Transaction,
  pageId: number,
  rows: readonly ItemRows[],
): Promise<void> {
  await tx.execute(sql`
    update etl.pages
    set heights = coalesce(heights, '{}') + ${heightsText({ rows })}::int8multirange
    where id = ${pageId}
  `);
}

/** Describes the batch by its blocks again, as its last concluding walk did. */
async function concludeAgain(tx: Transaction, { walk: { feed, batch } }: Origin): Promise<void> {
  const ended = await execute(tx).row(() =>
    z.object({
      walk: rowOf(walks),
      page_id: z.number(),
      cursor: cursorShape().nullable(),
      isConclusive: z.boolean(),
    }),
  )`
    select to_jsonb(walks) as walk, pages.id::float8 as page_id, cursor_in as cursor,
           pages.is_ordered as "isConclusive"
    from etl.walks
    join etl.pages on pages.walk_id = walks.id and sequence = walks.pages - 1
    where walks.feed = ${feed}
      and walks.batch = ${batch}
      and walks.state = 'finished'
      and (walks.reason is null or walks.reason = 'known')
    order by walks.id desc
    limit 1
  `;
  if (ended === null) return;
  const { walk, ...page } = ended;
  const end: WalkEnd = walk.reason === 'known' ? boundBy('known') : { is: 'end' };
  await concludeWalk(tx, walk, page, { end, cuts: walk.cuts });
}

async function keepReasons(tx: Transaction, kept: Retried['kept']): Promise<void> {
  if (kept.length === 0) return;
  await tx.execute(sql`
    update etl.quarantine as t
    set reason = kept.reason
    from json_to_recordset(${JSON.stringify(kept)}::json) as kept(id bigint, reason text)
    where t.id = kept.id and t.reason <> kept.reason
  `);
}
