import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';
import { lockEnds } from '../lists/feed.ts';
import type { ItemRows, Operation } from '../lists/operation.ts';
import { operations } from '../lists/registry.ts';
import type { WalkRow } from '../lists/tables.ts';
import { loadPages } from '../load/load.ts';
import { addToCoverage, type WalkAdvance } from '../sync/checkpoint.ts';
import { concludeWalk } from '../sync/commit.ts';
import { heightsText } from '../sync/ledger.ts';
import { normalisePage, type PageFacts } from '../sync/normalise.ts';
import { endAfter } from '../sync/judge.ts';
import { matches, newestPage, type QuarantineFilter } from './list.ts';

export interface Retried {
  readonly rows: readonly RetriedItem[];
  /** How many of the rows added or changed something; the others were known, or older. */
  readonly written: number;
  /** Those that are still no rows, and why by the present rules. */
  readonly kept: readonly (RetriedItem & { readonly reason: string })[];
}

interface RetriedItem {
  readonly id: number;
  readonly feed: string;
}

/**
 * Retries items by the present rules, in one transaction for each page. A row is as of the page
 * that served it, so it never replaces a newer page's; what is still no row stays, with its new
 * reason.
 */
export async function retryQuarantined(db: Database, filter: QuarantineFilter): Promise<Retried> {
  const { rows: groups } = await db.execute<{ page_id: string; ids: string[] }>(sql`
    select ${newestPage} as page_id, array_agg(id order by id) as ids
    from etl.quarantine
    where ${matches(filter)}
    group by 1
    order by 1
  `);
  const pages: Retried[] = [];
  for (const { page_id, ids } of groups) {
    pages.push(await transact(db, (tx) => retryPage(tx, Number(page_id), ids)));
  }
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

async function retryPage(
  tx: Transaction,
  pageId: number,
  ids: readonly string[],
): Promise<Retried> {
  const origin = await lockOrigin(tx, pageId);
  const { rows: entries } = await tx.execute<{ id: string; feed: string; raw: string }>(
    sql`
      select id, feed, raw::text as raw
      from etl.quarantine
      where id = any(${sql.param(ids)}::bigint[])
      order by id
      for update
    `,
  );
  const tried = entries.map(({ id, feed, raw }) => ({
    id: Number(id),
    feed,
    ...(origin === null ? noOrigin : tryItem(origin, parseExactly(raw))),
  }));
  const kept = tried.flatMap(({ id, feed, reason }) =>
    reason === null ? [] : { id, feed, reason },
  );
  await keepReasons(tx, kept);
  const items = tried.flatMap(({ item }) => item ?? []);
  if (origin === null || items.length === 0) return { rows: [], written: 0, kept };
  const { inserted, changed } = await writeItems(tx, origin, items);
  const rows = tried.flatMap(({ id, feed, item }) => (item === null ? [] : { id, feed }));
  await release(tx, rows);
  await addToCoverage(tx, origin.walk, { inserted });
  return { rows, written: inserted + changed, kept };
}

const noOrigin = { item: null, reason: 'the page that served it is not in the ledger' };

/** Locks as page commits do: the feed's ends, then the walk. Null: the ledger lacks the page. */
async function lockOrigin(tx: Transaction, pageId: number): Promise<Origin | null> {
  const { rows } = await tx.execute<Record<'origin', Origin>>(sql`
    select json_build_object('walk', to_jsonb(walks), 'page', to_jsonb(pages.*)) as origin
    from etl.pages join etl.walks on walks.id = pages.walk_id
    where pages.id = ${pageId}
  `);
  const origin = rows[0]?.origin;
  if (origin === undefined) return null;
  if (operations[origin.walk.operation].decidesMembership) await lockEnds(tx, origin.walk);
  await tx.execute(sql`select from etl.walks where id = ${origin.walk.id} for update`);
  return { walk: origin.walk, page: { ...origin.page, page_id: pageId } };
}

const operationOf = ({ walk }: Origin): Operation => operations[walk.operation];

function tryItem(
  origin: Origin,
  raw: unknown,
): { item: ItemRows; reason: null } | { item: null; reason: string } {
  const { walk, page } = origin;
  const place = {
    chain_id: walk.chain_id,
    scope: walk.scope,
    position: 0,
    order: null,
    misplaced: [],
  };
  const { rows, quarantined } = normalisePage(operationOf(origin), page, [raw], place);
  const [item] = rows;
  return item === undefined
    ? { item: null, reason: quarantined[0]?.reason ?? 'no row' }
    : { item, reason: null };
}

async function writeItems(
  tx: Transaction,
  origin: Origin,
  items: readonly ItemRows[],
): Promise<Pick<WalkAdvance, 'inserted' | 'changed'>> {
  const operation = operationOf(origin);
  const { page_id } = origin.page;
  const counts = await loadPages(tx, operation, [{ page_id, rows: items }]);
  if (operation.decidesMembership) {
    await addHeights(tx, page_id, items);
    // Before the ledger says that the page had no bad item: what a walk may conclude from its pages
    // was concluded, or not, when it ended.
    await concludeAgain(tx, operation, origin);
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

/** A batch is described by its blocks: what the last walk that concluded found is found again. */
async function concludeAgain(
  tx: Transaction,
  operation: Operation,
  { walk: { feed, batch } }: Origin,
): Promise<void> {
  const { rows } = await tx.execute<Record<'ended', Ended>>(sql`
    select json_build_object('walk', to_jsonb(walks), 'page', to_jsonb(pages.*)) as ended
    from etl.walks
    join etl.pages on pages.walk_id = walks.id and sequence = walks.pages - 1
    where walks.feed = ${feed}
      and walks.batch = ${batch}
      and walks.state = 'finished'
      and (walks.reason is null or walks.reason = 'known')
    order by walks.id desc
    limit 1
  `);
  const ended = rows[0]?.ended;
  if (ended === undefined) return;
  const { walk, page } = ended;
  await concludeWalk(tx, operation, walk, {
    last: { ...page, page_id: page.id, isOrdered: page.is_ordered, quarantined: [] },
    counts: new Map(),
    end: endAfter(walk, page),
    coverage: walk,
  });
}

interface Ended {
  readonly walk: WalkRow;
  readonly page: Pick<PageFacts, 'sequence' | 'cursor_in' | 'cursor_out'> & {
    readonly id: number;
    readonly is_ordered: boolean;
  };
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

async function release(tx: Transaction, rows: Retried['rows']): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await tx.execute(sql`delete from etl.quarantine where id = any(${sql.param(ids)}::bigint[])`);
}
