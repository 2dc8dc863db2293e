import { setImmediate } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { parseBody } from '../explorer/body.ts';
import { operations } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';
import { unpackBody } from '../walk/archive.ts';
import { readEnvelope } from '../walk/envelope.ts';
import { normalisePage, type NormalisedPage, type PageFacts } from '../walk/page.ts';
import type { WalkRow } from '../walk/walk-row.ts';

/** A page of the archive, with its ledger entry and its walk as they ended. */
export interface ArchivedPage {
  readonly commit_number: number;
  /** When its transaction began, in µs since 1970: the `now()` of all that it wrote. */
  readonly at_us: number;
  readonly body: Buffer;
  readonly encoding: string;
  readonly page: Omit<PageFacts, 'page_id'> &
    Pick<NormalisedPage, 'top' | 'bottom' | 'last_key'> & {
      readonly id: number;
      readonly is_ordered: boolean;
      readonly is_joined: boolean;
      readonly misplaced: readonly number[] | null;
    };
  readonly walk: WalkRow;
  /** Items of the walk's pages before this one. */
  readonly position: number;
}

/** The pages of one transaction, at least one. */
export type ArchivedCommit = readonly [ArchivedPage, ...ArchivedPage[]];

/** Pages read from the archive at once: some MB. */
const pagesAtOnce = 500;

/** Reads an archive from its beginning to its end, commits in their order, each of them whole. */
export class ArchiveReader {
  #after = 0;
  /** Of walks with more pages to come: the next page, and the items before it. */
  readonly #next = new Map<number, { readonly sequence: number; readonly items: number }>();

  /** The next commits; none at the end, and again some where more were archived since. */
  async read(source: Pick<Database, 'execute'>): Promise<ArchivedCommit[]> {
    const rows = await rowsAfter(source, this.#after);
    this.#after = rows.at(-1)?.commit_number ?? this.#after;
    const pages: ArchivedPage[] = [];
    for (const row of rows) pages.push({ ...row, position: await this.#positionOf(source, row) });
    return [...Map.groupBy(pages, ({ commit_number }) => commit_number).values()].flatMap(
      ([first, ...rest]) => (first === undefined ? [] : [[first, ...rest] as const]),
    );
  }

  /** Counted on from page to page: summing up the ledger for each takes the square of a long walk. */
  async #positionOf(
    source: Pick<Database, 'execute'>,
    { page, walk }: UnplacedPage,
  ): Promise<number> {
    const next = this.#next.get(walk.id);
    const position =
      next?.sequence === page.sequence ? next.items : await itemsBefore(source, walk.id, page);
    if (page.sequence + 1 === walk.pages) this.#next.delete(walk.id);
    else {
      this.#next.set(walk.id, { sequence: page.sequence + 1, items: position + page.items });
    }
    return position;
  }
}

type UnplacedPage = Omit<ArchivedPage, 'position'>;

async function rowsAfter(
  source: Pick<Database, 'execute'>,
  after: number,
): Promise<UnplacedPage[]> {
  const { rows } = await source.execute<UnplacedPage & Record<string, unknown>>(sql`
    select raw.commit_number::float8 as commit_number,
           (extract(epoch from raw.stored_at) * 1000000)::float8 as at_us,
           raw.body, raw.encoding, to_jsonb(pages.*) as page, to_jsonb(walks) as walk
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
  return rows;
}

/** Pages that are not in the archive count too. */
async function itemsBefore(
  source: Pick<Database, 'execute'>,
  walkId: number,
  { sequence }: Pick<PageFacts, 'sequence'>,
): Promise<number> {
  if (sequence === 0) return 0;
  const { rows } = await source.execute<{ items: number }>(sql`
    select coalesce(sum(items), 0)::float8 as items
    from etl.pages
    where walk_id = ${walkId} and sequence < ${sequence}
  `);
  return rows[0]?.items ?? 0;
}

/** The pages of one transaction, as rows. */
export interface DecodedCommit {
  readonly first: ArchivedPage;
  readonly last: ArchivedPage;
  readonly pages: readonly NormalisedPage[];
}

/** Decodes the next commit while the last one is being written. */
export async function* decodedAhead(
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

async function decodeCommit([first, ...rest]: ArchivedCommit): Promise<DecodedCommit> {
  const pages: NormalisedPage[] = [];
  for (const archived of [first, ...rest]) {
    // The database must not wait for more than a page to be told its next statement.
    await setImmediate();
    pages.push(readArchived(archived));
  }
  return { first, last: rest.at(-1) ?? first, pages };
}

export const operationOf = ({ walk }: Pick<ArchivedPage, 'walk'>): Operation =>
  operations[walk.operation];

/** The page as its walk read it, its items decoded by the present rules. */
function readArchived(archived: ArchivedPage): NormalisedPage {
  const operation = operationOf(archived);
  const { page, walk, position } = archived;
  const { items } = readEnvelope(
    operation,
    parseBody(unpackBody(archived.body, archived.encoding)),
  );
  const place = {
    chain_id: walk.chain_id,
    scope: walk.scope,
    position,
    order: null,
    misplaced: page.misplaced ?? [],
  };
  const normalised = normalisePage(operation, { ...page, page_id: page.id }, items, place);
  // Where it stands in the list was judged when its neighbours were at hand.
  const { top, bottom, last_key, is_ordered, is_joined } = page;
  return { ...normalised, top, bottom, last_key, isOrdered: is_ordered, isJoined: is_joined };
}
