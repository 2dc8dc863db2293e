import { sql } from 'drizzle-orm';
import type { z } from 'zod';
import type { Database, Transaction } from '../db/transaction.ts';
import { parseBody } from '../explorer/body.ts';
import { operations } from '../operations/index.ts';
import type { Operation, OperationName } from '../operations/operation.ts';
import { unpackBody } from './archive.ts';
import { AskedNumbers } from './asked.ts';
import { writePages } from './commit.ts';
import { readEnvelope } from './envelope.ts';
import type { ReadPage } from './fetch.ts';
import { endAfter } from './ended.ts';
import { normalisePage, type NormalisedPage, type PageFacts } from './page.ts';
import type { WalkRow } from './walk-row.ts';

/** A page of the archive, with its ledger entry and its walk as they ended. */
interface ArchivedPage {
  readonly commit_number: number;
  /** When its transaction began: the `now()` of all that it wrote. */
  readonly stored_at: string;
  /** The same in µs since 1970. */
  readonly at_us: number;
  readonly body: Buffer;
  readonly encoding: string;
  readonly page: Omit<PageFacts, 'page_id'> & { readonly id: number; readonly is_ordered: boolean };
  readonly walk: WalkRow;
  /** Items of the walk's pages before this one. */
  readonly position: number;
}

/** How far a replay has come. */
export interface Replayed {
  readonly pages: number;
  /** Items that became rows. */
  readonly rows: number;
}

/** Pages read from the archive at once, and written in one transaction: some MB. */
const pagesAtOnce = 500;

/**
 * Writes archived pages into an empty, migrated database, by the code that writes pages just read:
 * commit by commit in the order in which they were made, each with its own pages and its own time,
 * so that what depends on either comes out the same. May be called again for pages archived since.
 */
export class Replay {
  readonly #target: Database;
  readonly #walks = new Map<number, WalkRow>();
  readonly #steady = new Map<string, Set<string>>();
  readonly #asked = new AskedNumbers();
  #after = 0;
  #pages = 0;
  #rows = 0;

  /** @param target as `createScratchDatabase` made it: its clock can be set */
  constructor(target: Database) {
    this.#target = target;
  }

  /** Replays what the archive of `source` holds beyond what was replayed. */
  async catchUp(
    source: Pick<Database, 'execute'>,
    onProgress: (so: Replayed) => void,
    signal: AbortSignal,
  ): Promise<Replayed> {
    await this.#asked.load(source);
    let reading = archivedAfter(source, this.#after);
    while (!signal.aborted) {
      const commits = await reading;
      const last = commits.at(-1);
      if (last === undefined) break;
      this.#after = last.number;
      reading = archivedAfter(source, this.#after);
      // Awaited in the next round; until then a failure has nobody to tell.
      reading.catch(() => undefined);
      await this.#target.transaction(async (tx) => {
        for await (const commit of decodedAhead(commits)) await this.#writeCommit(tx, commit);
      });
      onProgress({ pages: this.#pages, rows: this.#rows });
    }
    return { pages: this.#pages, rows: this.#rows };
  }

  async #writeCommit(tx: Transaction, { first, last, pages }: DecodedCommit): Promise<void> {
    await tx.execute(sql`select set_config('replay_clock.now', ${first.stored_at}, false)`);
    const walk = this.#walks.get(first.walk.id) ?? (await beginWalk(tx, first));
    const { feed } = walk;
    if (walk.kind === 'batch') {
      await this.#asked.restore(tx, feed, { tick_id: walk.tick_id, at_us: first.at_us });
    }
    const steady = this.#steady.get(feed) ?? new Set<string>();
    this.#steady.set(feed, steady);
    let emptyRun = walk.empty_run;
    const kept = pages.map((page): ReadPage => {
      emptyRun = page.items === 0 ? emptyRun + 1 : 0;
      return { page, end: null, emptyRun, body: null };
    });
    const written = await writePages(tx, operationOf(first), walk, {
      kept,
      end: endAfter(last.walk, last.page),
      steady,
    });
    this.#pages += pages.length;
    for (const page of pages) {
      this.#rows += page.rows.length;
      for (const path of page.survey.everywhere) steady.add(path);
    }
    // One that was under way when it was read here may have more pages by the next time.
    if (endAfter(last.walk, last.page) === null) this.#walks.set(walk.id, written.walk);
    else this.#walks.delete(walk.id);
  }
}

/** The pages of one transaction, as rows. */
interface DecodedCommit {
  readonly first: ArchivedPage;
  readonly last: ArchivedPage;
  readonly pages: readonly NormalisedPage[];
}

/** Decodes the next commit while the last one is being written. */
async function* decodedAhead(
  commits: readonly ArchivedCommit[],
): AsyncGenerator<DecodedCommit, undefined> {
  let next: Promise<DecodedCommit> | null = null;
  for (const [index, commit] of commits.entries()) {
    const current = next ?? decodeCommit(commit);
    const following = commits[index + 1];
    const decoded = await current;
    next = following === undefined ? null : decodeCommit(following);
    // Awaited in the next round; until then a failure has nobody to tell.
    next?.catch(() => undefined);
    yield decoded;
  }
  return undefined;
}

async function decodeCommit({ pages: [first, ...rest] }: ArchivedCommit): Promise<DecodedCommit> {
  const pages: NormalisedPage[] = [];
  for (const archived of [first, ...rest]) pages.push(await readArchived(archived));
  return { first, last: rest.at(-1) ?? first, pages };
}

const operationOf = ({ walk }: ArchivedPage): Operation<z.ZodType> =>
  operations[walk.operation as OperationName];

interface ArchivedCommit {
  readonly number: number;
  readonly pages: readonly [ArchivedPage, ...ArchivedPage[]];
}

/** The next commits of the archive, whole; empty at its end. */
async function archivedAfter(
  source: Pick<Database, 'execute'>,
  after: number,
): Promise<ArchivedCommit[]> {
  const { rows } = await source.execute<ArchivedPage & Record<string, unknown>>(sql`
    select raw.commit_number::float8 as commit_number, raw.stored_at::text as stored_at,
           (extract(epoch from raw.stored_at) * 1000000)::float8 as at_us,
           raw.body, raw.encoding, to_jsonb(pages.*) as page, to_jsonb(walks) as walk,
           (
             select coalesce(sum(before.items), 0)::float8 from etl.pages as before
             where before.walk_id = pages.walk_id and before.sequence < pages.sequence
           ) as position
    from etl.raw_pages as raw
    join etl.pages on pages.id = raw.page_id
    join etl.walks on walks.id = pages.walk_id
    where raw.commit_number > ${after}
      and raw.commit_number <= (
        select max(commit_number) from (
          select commit_number from etl.raw_pages
          where commit_number > ${after}
          order by commit_number
          limit ${pagesAtOnce}
        ) as next
      )
    order by raw.commit_number, pages.sequence
  `);
  const commits = Map.groupBy(rows, ({ commit_number }) => commit_number);
  return [...commits].flatMap(([number, [first, ...rest]]) =>
    first === undefined ? [] : [{ number, pages: [first, ...rest] }],
  );
}

/** The walk as it was before an archived page, the first that is known of it. */
async function beginWalk(
  tx: Transaction,
  { walk, page, position }: ArchivedPage,
): Promise<WalkRow> {
  const begun: WalkRow = {
    ...walk,
    state: 'running',
    reason: null,
    cursor: page.cursor_in,
    revision: 0,
    is_ordered: true,
    top: null,
    bottom: null,
    pages: page.sequence,
    items: position,
    inserted: 0,
    changed: 0,
    quarantined: 0,
    archived_bytes: 0,
    empty_run: 0,
    finished_at: null,
  };
  const { feed: _feed, batch: _batch, ...stored } = begun;
  const columns = sql.raw(
    Object.keys(stored)
      .map((column) => `"${column}"`)
      .join(', '),
  );
  await tx.execute(sql`
    insert into etl.walks (${columns})
    select ${columns} from json_populate_record(null::etl.walks, ${JSON.stringify(stored)}::json)
  `);
  return begun;
}

/** The page as its walk read it, its items decoded by the present rules. */
async function readArchived(archived: ArchivedPage): Promise<NormalisedPage> {
  const operation = operationOf(archived);
  const { page, walk, position } = archived;
  const { items } = readEnvelope(
    operation,
    parseBody(await unpackBody(archived.body, archived.encoding)),
  );
  const place = { chain_id: walk.chain_id, scope: walk.scope, position, above: null };
  const normalised = normalisePage(operation, { ...page, page_id: page.id }, items, place);
  // Whether it followed on the page before was judged when both were at hand.
  return { ...normalised, isOrdered: page.is_ordered };
}
