import { sql } from 'drizzle-orm';
import { post, transactPosting, type Database, type Transaction } from '../db/transaction.ts';
import {
  ArchiveReader,
  decodedAhead,
  operationOf,
  type ArchivedPage,
  type DecodedCommit,
} from './archive-reader.ts';
import { WrittenObservations } from '../load/written-observations.ts';
import { AskedNumbers } from './wish-history.ts';
import { writePages } from '../walk/write.ts';
import type { ReadPage } from '../walk/fetch.ts';
import { endAfter } from '../walk/end.ts';
import type { WalkRow } from '../walk/walk-row.ts';

/** How far a replay has come. */
export interface Replayed {
  readonly pages: number;
  /** Items that became rows. */
  readonly rows: number;
}

/**
 * Writes archived pages into an empty, migrated database, by the code that writes pages just read:
 * commit by commit in the order in which they were made, each with its own pages and its own time,
 * so that what depends on either comes out the same. May be called again for pages archived since.
 */
export class Replay {
  readonly #target: Database;
  readonly #archive = new ArchiveReader();
  readonly #walks = new Map<number, WalkRow>();
  readonly #asked = new AskedNumbers();
  readonly #written = new WrittenObservations();
  #pages = 0;
  #rows = 0;
  #plannedAt = 0;

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
    let reading = this.#archive.read(source);
    while (!signal.aborted) {
      const commits = await reading;
      if (commits.length === 0) break;
      reading = this.#archive.read(source);
      // Awaited in the next round; until then a failure has nobody to tell.
      reading.catch(() => undefined);
      await transactPosting(this.#target, async (tx) => {
        for await (const commit of decodedAhead(commits)) await this.#writeCommit(tx, commit);
      });
      await this.#planAgain();
      onProgress({ pages: this.#pages, rows: this.#rows });
    }
    return { pages: this.#pages, rows: this.#rows };
  }

  /**
   * Statements are planned once, while their tables are almost empty. Where these have doubled, what
   * was right then reads a whole table for each page.
   */
  async #planAgain(): Promise<void> {
    if (this.#pages < 2 * this.#plannedAt) return;
    this.#plannedAt = this.#pages;
    await this.#target.execute(sql`analyze`);
  }

  async #writeCommit(tx: Transaction, { first, last, pages }: DecodedCommit): Promise<void> {
    await post(tx, sql`select set_config('replay_clock.now_us', ${String(first.at_us)}, false)`);
    const walk = this.#walks.get(first.walk.id) ?? (await beginWalk(tx, first));
    if (operationOf(first).decidesMembership) {
      await this.#asked.restore(tx, walk.feed, { run_id: walk.run_id, at_us: first.at_us });
    }
    let emptyRun = walk.empty_run;
    const kept = pages.map((page): ReadPage => {
      emptyRun = page.items === 0 ? emptyRun + 1 : 0;
      return { page, end: null, emptyRun, body: null };
    });
    const end = endAfter(last.walk, last.page);
    const moved = await writePages(tx, operationOf(first), walk, {
      kept,
      end,
      written: this.#written,
    });
    this.#pages += pages.length;
    this.#rows += pages.reduce((sum, page) => sum + page.rows.length, 0);
    // One that was under way when it was read here may have more pages by the next time.
    if (end === null) this.#walks.set(walk.id, moved);
    else this.#walks.delete(walk.id);
  }
}

/** The walk as it was before an archived page, the first that is known of it. */
async function beginWalk(
  tx: Transaction,
  { walk, page, position }: ArchivedPage,
): Promise<WalkRow> {
  const begun: WalkRow = {
    ...walk,
    state: 'running',
    failure: null,
    reason: null,
    cursor: page.cursor_in,
    revision: 0,
    is_ordered: true,
    proved: '{}',
    stretch_top: null,
    cuts: 0,
    top: null,
    bottom: null,
    pages: page.sequence,
    items: position,
    inserted: 0,
    changed: 0,
    quarantined: 0,
    archived_bytes: 0,
    credits: 0,
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
