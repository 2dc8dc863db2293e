import type { PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import type { ValidItem } from '../drift/decode.ts';
import type { AddressObservation } from '../load/address.ts';
import type { ConfigDefaults, Guide } from './define.ts';

/** The declared fields of `next_page_params`, passed back unchanged. */
export type Cursor = Readonly<Record<string, string | number>>;

/** What one walk of a list that is newest first covers: all of it, but for its bounds. */
export interface NewestFirstWalk {
  /** ISO 8601. */
  readonly since?: string;
  readonly max_pages?: number;
  /** Where another walk takes over: the cursor that the page below this walk's last begins with. */
  readonly until?: Cursor;
  /** The walk reads known history again. */
  readonly again?: boolean;
  /** Where it enters the list: a position that was made, so it is believed only by what is served there. */
  readonly entry?: OrderKey;
  /** The walk whose rest it shares with others that entered below it; it takes over a part once it has arrived. */
  readonly above?: number;
}

/** What one walk of lists by number covers: one of them. */
export interface NumberedWalk {
  /** The list's number: that of an Optimism batch. */
  readonly batch: number;
  readonly max_pages?: number;
  /** A check whether the batch is there yet: that it is empty says nothing for good. */
  readonly probe?: boolean;
  /** A block of the batch below which its chain is known: a walk that meets it need not go on. */
  readonly known?: KnownBlock;
}

/** What one walk of a list whose order changes covers. */
export interface RankedWalk {
  readonly max_pages?: number;
}

/** What a walk covers, by its kind of list. */
interface ScopeByKind {
  readonly 'newest-first': NewestFirstWalk;
  readonly numbered: NumberedWalk;
  readonly ranked: RankedWalk;
}

/** How a list is ordered, and so what of it is new, read and missing: `src/lists/list.ts`. */
export type ListKindName = keyof ScopeByKind;

type AnyKey = { [Kind in ListKindName]: keyof ScopeByKind[Kind] }[ListKindName];

/**
 * What one walk covers, whatever its kind; kept with it, so that anyone who resumes it needs nothing else.
 * What another kind's walks have is not there.
 */
export type Scope = {
  [Kind in ListKindName]: ScopeByKind[Kind] & {
    readonly [Other in Exclude<AnyKey, keyof ScopeByKind[Kind]>]?: never;
  };
}[ListKindName];

/** A block as it was last seen; `hash` in lower case. */
export interface KnownBlock {
  readonly height: number;
  readonly hash: string;
}

/** Where an item stood when it was read. `position` counts the walk's items from 0. */
export interface Place {
  readonly chain_id: number;
  readonly page_id: number;
  readonly scope: Scope;
  readonly position: number;
}

/** What an item's rows do not report, so that the stored rows keep it. */
export interface MissingValues {
  /** Columns of the own row. */
  readonly columns: readonly string[];
  /**
   * For each child table the positions of rows that were not read whole; `all` where nothing was read
   * of them. A row without a position has 0.
   */
  readonly children: readonly (readonly number[] | 'all')[];
}

/** What one valid item becomes, but for the provenance. `key` shows repeats within a page. */
export interface ItemRows {
  readonly key: string;
  readonly row: Row;
  /** One entry for each of the operation's child tables, in its order. */
  readonly children: readonly (readonly Row[])[];
  readonly addresses: readonly AddressObservation[];
  /** Null where everything was reported, as it almost always is. */
  readonly missing: MissingValues | null;
  readonly position: number;
  /** Where the item stands in a list that is ordered by block, newest first. */
  readonly height: number | null;
}

/** A table whose rows belong to a parent row; `parentKey` names the columns that point to it. */
export interface ChildTable {
  readonly table: PgTable;
  readonly parentKey: readonly string[];
}

/** Where an item stands in a list that is highest first, then highest key first. */
export interface OrderKey {
  readonly height: number;
  readonly key: string;
}

/** The last item of a page in a list that is ordered by block, and the page's number. */
export interface PageEnd extends OrderKey {
  readonly page_id: number;
}

/** What says where an item stands: its height, its time, and what orders it within the height. */
interface OrderFields<Name> {
  readonly height: Name;
  readonly time: Name;
  readonly key: Name;
}

/** What the heights of a list count. */
export type ListUnit = 'blocks' | 'batches';

/** How a list that is newest first reports its order. */
export interface ListOrder {
  /** An item's fields, by their names in all of the API's generations. */
  readonly fields: OrderFields<readonly string[]>;
  /** Columns of the own table. */
  readonly columns: OrderFields<string>;
  readonly unit: ListUnit;
  /**
   * The position that a cursor names: that of the first item of its page, or of the last one of the page
   * before. Null where it cannot be read; then the items alone are the evidence.
   */
  readonly position: (cursor: Cursor) => OrderKey | null;
  readonly names: 'first' | 'above';
  /** A cursor that names a position: made, not given out, so it is believed only by what it serves. */
  readonly cursorAt: (position: OrderKey) => Cursor;
  /** The position above all items of a height. */
  readonly topOf: (height: number) => OrderKey;
  /** Whether pages that follow each other in this order verify that nothing is missing between them. */
  readonly givesCoverage: boolean;
}

/** What an operation gets to know when a page or the whole walk is committed. */
export interface WalkContext<Walk extends Scope = Scope> {
  readonly walk_id: number;
  readonly run_id: number;
  readonly chain_id: number;
  /** Such as `10/user-operations`. */
  readonly feed: string;
  /** When the walk began, ISO 8601, by the clock that its worker goes by. */
  readonly started_at: string;
  readonly scope: Walk;
  /** Null where the walk goes to the list's end. */
  readonly floor: number | null;
  readonly page_id: number;
  /** Where the page was requested; null: at the head. */
  readonly cursor: Cursor | null;
  /** How many rows the page added to the operation's own table. */
  readonly inserted: number;
  /** Where the page before ended, if that one was conclusive: this page's cursor goes on there. */
  readonly above: PageEnd | null;
  /** Whether the page is in order and all of its items became rows: absence then means something. */
  readonly isConclusive: boolean;
}

/** A page that is being written: nothing of it was counted yet. */
export interface PageInWalk<Walk extends Scope = Scope> {
  readonly walk: Omit<WalkContext<Walk>, 'inserted'>;
  readonly rows: readonly ItemRows[];
}

/** What an operation gets to know at a walk's end. */
export interface WalkEndContext<Walk extends Scope = Scope> extends WalkContext<Walk> {
  /** The height down to which the list was read whole: 0 at its end, else that of the known block. */
  readonly readDownTo: number;
  /** Whether its pages follow each other without a cut, and are in order. */
  readonly isUnbroken: boolean;
}

/** A walk whose newest page claims to be the list's last. */
export interface EndClaim<Walk extends Scope = Scope> {
  readonly walk_id: number;
  readonly run_id: number;
  readonly chain_id: number;
  readonly feed: string;
  readonly scope: Walk;
  /** How many items of that page are no rows. */
  readonly quarantined: number;
  /** Whether that page has as many items as were requested. */
  readonly isFull: boolean;
  /** How many items were requested. */
  readonly pageSize: number;
  /** The rows of that page, which is not committed yet; all pages before it are. */
  readonly rows: readonly ItemRows[];
  /** The page's last item that stands in the list's order; null where there is none. */
  readonly last: OrderKey | null;
  /** Where the page was requested: at the head, at a position, or at a cursor that cannot be read. */
  readonly entry: OrderKey | 'head' | 'unknown';
  /** The item that the page should begin with by the service's own cursor; null where that names none. */
  readonly promised: OrderKey | null;
  /** Whether this is the first page since a worker took the walk: the service returned its cursor earlier. */
  readonly isResumed: boolean;
}

/**
 * What is known of a list's claimed end beside the answer itself. An end that nothing supports is asked
 * for once more; one that is contradicted is no end: the walk fails as `truncated`, and is tried again.
 */
export type EndVerdict =
  | { readonly is: 'supported' }
  | { readonly is: 'unsupported' }
  | {
      readonly is: 'contradicted';
      readonly evidence: string;
      /** The request whose answer can refute the evidence; null: none can. */
      readonly ask: EndQuestion | null;
    };

/** A position that is requested to learn whether items have left the list. */
export interface EndQuestion {
  readonly cursor: Cursor;
  /** The only item that the list still has from there on; null: it has none. */
  readonly only: OrderKey | null;
}

/** All that is special about one list of the API. The walk and the loader know nothing else. */
export interface Operation<Walk extends Scope = Scope> {
  readonly name: string;
  readonly kind: ListKindName;
  /** The rows' own table. */
  readonly table: PgTable;
  readonly children: readonly ChildTable[];
  /** Every table of schema `explorer` that it writes alone; those that refer to others first. */
  readonly tables: readonly PgTable[];
  /** Columns of the own table that name an address, whose row must be there too. */
  readonly addressColumns: readonly string[];
  readonly guide: Guide;
  readonly defaults: ConfigDefaults;
  /** Whether a chain's feed is wanted if its operations are not named. */
  readonly isOffered: (chainId: number) => boolean;
  /**
   * Columns that make a row another one when they change: the block of a height with another hash. What
   * was known of the one before says nothing of it then.
   */
  readonly version: readonly string[];
  /** The path below `/{chain_id}/api/v2/` and the declared query parameters of one page. */
  request(
    scope: Walk,
    cursor: Cursor | null,
    pageSize: number,
  ): { readonly path: string; readonly query: Cursor };
  /** What `next_page_params` may hold; undeclared fields, such as an echoed `key`, are left out. */
  readonly cursor: z.ZodType<Cursor | null>;
  /** One item, in every shape that the API's generations give it. */
  readonly item: z.ZodType;
  normalise(decoded: ValidItem, place: Place): ItemRows;
  /** Where items stand in a list that is newest first, judged before they are rows. Null: no order. */
  readonly order: ListOrder | null;
  /**
   * Whether a walk decides which rows belong to what it reads: then its pages keep the heights that they
   * served, and the ends of a feed's walks, which rest on their neighbours' rows, come one at a time.
   */
  readonly decidesMembership: boolean;
  /** Whether the rows of one archived page say something by themselves; those of a ranking do not. */
  readonly isReplayable: boolean;
  /** What is stored says of the claim that the list ends here. Changes nothing. */
  judgeEnd(db: Pick<Transaction, 'execute'>, claim: EndClaim<Walk>): Promise<EndVerdict>;
  /**
   * Of the pages of a transaction, by their numbers, those of which something is to be concluded: `afterPage`
   * is run for them alone. It runs along with the writing of their rows, which says nothing of what
   * is not on a page.
   */
  informative(tx: Transaction, pages: readonly PageInWalk<Walk>[]): Promise<ReadonlySet<number>>;
  /**
   * Runs in a page's transaction, after its rows.
   *
   * @returns whether the stored rows confirm the page; where they don't, it verifies nothing
   */
  afterPage(tx: Transaction, walk: WalkContext<Walk>, rows: readonly ItemRows[]): Promise<boolean>;
  /**
   * Runs in the transaction of a walk's last page, when it ended at the list's end or at a block
   * below which all is known. Ends of a feed's
   * walks come one at a time: each sees what those before it concluded.
   *
   * @returns why the walk says less than a whole list, to be kept as its reason; null if it does not
   */
  afterWalk(tx: Transaction, walk: WalkEndContext<Walk>): Promise<string | null>;
}
