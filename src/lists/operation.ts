import type { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { ValidItem } from './decode.ts';
import type { LoadedItem, Tables } from '../load/load.ts';

/** The declared fields of `next_page_params`, passed back unchanged. */
export const cursorShape = () => z.record(z.string(), z.union([z.string(), z.number()]));
export type Cursor = Readonly<z.infer<ReturnType<typeof cursorShape>>>;

/** What one walk of a newest-first list covers: all of it, but for its bounds. */
export interface NewestFirstWalk {
  /** ISO 8601. */
  readonly since?: string;
  readonly max_pages?: number;
  /** Where another walk takes over: the cursor of the page below this walk's last. */
  readonly until?: Cursor;
  readonly again?: boolean;
  /** Where it enters the list, if at a synthetic cursor: only what is served there confirms it. */
  readonly entry?: OrderKey;
  /** The walk whose remainder it shares with others that entered below it: see `sync/checkpoint.ts`. */
  readonly remainder_of?: number;
}

export interface NumberedWalk {
  readonly batch: number;
  readonly max_pages?: number;
  /** Whether it only checks that the batch is there yet: empty says nothing for good. */
  readonly probe?: boolean;
  /** A block of the batch below which its chain is known: a walk that meets it may end. */
  readonly known?: KnownBlock;
}

export type RankedWalk = Pick<NewestFirstWalk, 'max_pages'>;

/** What one walk covers, kept with it so that any worker can resume it; keys of one kind only. */
export interface Scope extends NewestFirstWalk, RankedWalk, Partial<NumberedWalk> {}

/** A block as it was last seen; `hash` in lower case. */
export const knownBlockShape = () => z.object({ height: z.number(), hash: z.string() });
export type KnownBlock = Readonly<z.infer<ReturnType<typeof knownBlockShape>>>;

/** Where an item was when it was read. `position` counts the walk's items from 0. */
export interface ItemPosition {
  readonly chain_id: number;
  readonly page_id: number;
  readonly scope: Scope;
  readonly position: number;
}

export interface ItemRows extends LoadedItem {
  readonly position: number;
  /** Null: the list has no heights, or the item does not report its own. */
  readonly height: number | null;
}

/** The place of an item in a list that is highest first, then highest `keyText` first. */
export const orderKeyShape = () => z.object({ height: z.number(), key: z.string() });
export type OrderKey = Readonly<z.infer<ReturnType<typeof orderKeyShape>>>;

/** The last item of a page, and the page's number. */
export const pageEndShape = () => orderKeyShape().extend({ page_id: z.number() });
export type PageEnd = Readonly<z.infer<ReturnType<typeof pageEndShape>>>;

/** A column of the key, and the names of its field in all of the API's generations. */
export interface KeyPart {
  readonly column: string;
  readonly names: readonly string[];
  readonly isNumber: boolean;
}

/** What the heights of a list count. */
export type ListUnit = 'blocks' | 'batches';

/** How a list is ordered, highest first. */
export interface ListOrder {
  /** An item's fields, by their names in all of the API's generations. */
  readonly fields: { readonly height: readonly string[]; readonly time: readonly string[] };
  readonly columns: { readonly height: string; readonly time: string };
  /** What orders the items of a height. */
  readonly key: readonly KeyPart[];
  readonly unit: ListUnit;
  /** The position that a cursor names; null: it cannot be read, and only the items are evidence. */
  readonly position: (cursor: Cursor) => OrderKey | null;
  /** The first item of the cursor's page, or the last item of the page before. */
  readonly names: 'first' | 'above';
  /** A synthetic cursor: only what is served there confirms it. */
  readonly cursorAt: (position: OrderKey) => Cursor;
  /** The position above all items of a height. */
  readonly topOf: (height: number) => OrderKey;
  /** Whether consecutive pages in this order verify that nothing is missing between them. */
  readonly givesCoverage: boolean;
}

interface WalkIdentity<Walk extends Scope> {
  readonly walk_id: number;
  readonly run_id: number;
  readonly chain_id: number;
  /** Such as `10/user-operations`. */
  readonly feed: string;
  readonly scope: Walk;
}

/** A walk as a page of it is committed. */
export interface WalkContext<Walk extends Scope = Scope> extends WalkIdentity<Walk> {
  /** ISO 8601: no page of it was requested before. */
  readonly as_of: string;
  /** The stop height; null: the list's end. */
  readonly floor: number | null;
  readonly page_id: number;
  /** Null: the head. */
  readonly cursor: Cursor | null;
  /** Where the page before ended, if that one was conclusive: this page's cursor continues there. */
  readonly previousLast: PageEnd | null;
  /** The page is in order and all its items became rows: only then does absence mean something. */
  readonly isConclusive: boolean;
}

/** A page that is being written. */
export interface PageInWalk<Walk extends Scope = Scope> {
  readonly walk: WalkContext<Walk>;
  readonly rows: readonly ItemRows[];
  /** Whether its first item became a row. */
  readonly isTopRead: boolean;
}

export interface WalkEndContext<Walk extends Scope = Scope> extends WalkContext<Walk> {
  /** The height down to which the list was read whole: at its end 0 or the walk's stop height, else that of the known block. */
  readonly readDownTo: number;
  /** Whether its pages follow each other without a cut, and are in order. */
  readonly isUnbroken: boolean;
}

/** A walk whose newest page claims to be the list's last. */
export interface EndClaim<Walk extends Scope = Scope> extends WalkIdentity<Walk> {
  readonly quarantined: number;
  /** How many items were requested. */
  readonly pageSize: number;
  /** The rows of the page, which is not committed yet; all pages before it are. */
  readonly rows: readonly ItemRows[];
  /** The page's last item that is in order; null: there is none. */
  readonly last: OrderKey | null;
  /** Where the page was requested; null: at the head. */
  readonly cursor: Cursor | null;
}

/** An unsupported end is requested once more, a contradicted one up to three times: then the walk is `truncated`. */
export type EndVerdict =
  | { readonly is: 'supported' }
  | {
      readonly is: 'unsupported';
      /** What the next answer must show alike, beside its items. */
      readonly shows?: unknown;
    }
  | {
      readonly is: 'contradicted';
      readonly evidence: string;
      /** The request whose answer can refute the evidence; null: there is none. */
      readonly question: EndQuestion | null;
    };

/** A request that shows whether the evidence has left the list. */
export interface EndQuestion {
  readonly cursor: Cursor;
  /** The only item that the list still has from there on; null: none. */
  readonly only: OrderKey | null;
}

export interface Defaults {
  /** Five cron fields. */
  readonly schedule: string;
}

export interface NewestFirstDefaults extends Defaults {
  /** How far below the newest known item each poll goes. */
  readonly overlap: string;
  readonly resweep: readonly { readonly depth: string; readonly every: string }[];
}

/** The operation's texts for people. */
export interface Guide {
  /** Its list beside the name of a chain: short, for a column. */
  readonly list: string;
  readonly items: string;
  /** A sentence. */
  readonly about: string;
  /** Its lines in the file that `init` writes for a chain: YAML, with costs as comments. */
  example(chainId: number): string;
}

/** What a numbered list declares. Its table has the columns of a block that link it to its neighbours. */
export interface NumberedColumns {
  /** The column for the number of the list that a block came from. */
  readonly number: string;
  /** A table of `batchStates`. */
  readonly states: PgTable;
  /** A newest-first list of the numbers themselves; null: none is known. */
  readonly listed: {
    readonly operation: string;
    /** Its columns for the lowest and the highest block of a number. */
    readonly first: string;
    readonly last: string;
  } | null;
}

/** What a ranked list declares. Its table has `rank` and `missing_since`. */
export interface RankedColumns {
  /** The column that identifies a chain's items: an address. */
  readonly key: string;
  /** The column that ranks the items, highest first. */
  readonly total: string;
  /** Keeps each change of the total: `chain_id`, the key, `observed_at`, the total, `page_id`. */
  readonly history: PgTable;
  /** The total and the key that a cursor names. */
  readonly position: ListOrder['position'];
}

/** All that is special about one list of the API, whatever its kind. */
export interface ListOperation extends Tables {
  readonly name: string;
  /** Every table of schema `explorer` that it writes alone; those that refer to others first. */
  readonly tables: readonly PgTable[];
  /** Columns of `table` that name an address, which is a row of its own. */
  readonly addressColumns: readonly string[];
  readonly guide: Guide;
  /** Whether a chain has the list, and is mirrored without being named: what costs more is not. */
  readonly offer: (chainId: number) => 'usual' | 'if-named' | 'absent';
  /** The path below `/{chain_id}/api/v2/` and the declared query parameters of one page. */
  request(
    scope: Scope,
    cursor: Cursor | null,
    pageSize: number,
  ): { readonly path: string; readonly query: Cursor };
  /** What `next_page_params` may hold; other fields, such as an echoed `key`, are dropped. */
  readonly cursor: z.ZodType<Cursor | null>;
  /** One item, in the shapes of all of the API's generations. */
  readonly item: z.ZodType;
  normalise(decoded: ValidItem, place: ItemPosition): ItemRows;
}

export interface NewestFirstOperation extends ListOperation {
  readonly kind: 'newest-first';
  readonly defaults: NewestFirstDefaults;
  readonly order: ListOrder;
}

export interface NumberedOperation extends ListOperation {
  readonly kind: 'numbered';
  readonly defaults: Defaults;
  readonly order: ListOrder;
  readonly batches: NumberedColumns;
}

export interface RankedOperation extends ListOperation {
  readonly kind: 'ranked';
  readonly defaults: Defaults;
  readonly order: null;
  readonly ranking: RankedColumns;
}

/** What the walk and the loader know of a list. */
export type Operation = NewestFirstOperation | NumberedOperation | RankedOperation;

export type OrderedOperation = Exclude<Operation, RankedOperation>;

export type ListKindName = Operation['kind'];
