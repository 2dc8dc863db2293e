import { setTimeout as delay } from 'node:timers/promises';
import { answered } from './explorer.ts';

/** A user operation that a test lists, moves and takes away by hand. */
export interface KeptOperation {
  readonly block: number;
  /** Identifies the operation; made into a hash. */
  readonly id: number;
  readonly fee?: string;
  /** The name that its sender is shown with; without one the sender is a bare hash. */
  readonly sender?: string;
  /** The time that it reports; without one that of its block. */
  readonly time?: string;
}

/** A block of a batch. */
export interface KeptBlock {
  readonly height: number;
  /** Distinguishes blocks of one height: after a reorganisation another one is there. */
  readonly edition?: number;
  /** That of the block below; 0 if absent. */
  readonly parentEdition?: number;
  readonly isPending?: boolean;
  /** Whether it does not report the block below it. */
  readonly hasNoParent?: boolean;
}

/** What the list of batches says of one. */
export interface KeptBatch {
  readonly number: number;
  readonly transactions?: number;
  /** The stated first and last block; made from the number if absent. */
  readonly blocks?: readonly [number, number];
}

/** All that an explorer lists, in any order; it serves the highest first. */
export interface KeptLists {
  operations: readonly KeptOperation[];
  /** The blocks of each batch. */
  batches: ReadonlyMap<number, readonly KeptBlock[]>;
  /** The list of batches. */
  listed: readonly KeptBatch[];
  /** Accounts by factory; each other ranking counts the same. */
  factories: ReadonlyMap<number, number>;
}

/** Each list: its operation, the end of its path, the field that orders it, and what its cursor is called. */
export const listFacts = {
  operations: ['user-operations', 'operations', 'block_number', 'page_token'],
  batch: ['optimism-batch-blocks', null, 'height', 'block_number'],
  ranking: ['factories', 'factories', 'total_accounts', 'page_token'],
  listed: ['optimism-batches', 'batches', 'number', 'id'],
  bundles: ['bundles', 'bundles', 'block_number', 'page_token'],
  bundlers: ['bundlers', 'bundlers', 'total_ops', 'page_token'],
  paymasters: ['paymasters', 'paymasters', 'total_ops', 'page_token'],
} as const;
export type ListName = keyof typeof listFacts;
export const listNames = Object.keys(listFacts) as ListName[];

/** A request for a page. */
export interface Requested {
  readonly list: ListName;
  /** Null for the other lists. */
  readonly batch: number | null;
  /** As the query has it; null for a list's first page. */
  readonly cursor: string | null;
}

export type Item = Record<string, unknown>;

/** The position of an item in a list in descending order. */
type Place = readonly (number | string)[];

/** A page as it is served; without `next_page_params` the key is left out of the body. */
export interface Page {
  readonly items: readonly Item[];
  readonly next_page_params?: Item | null;
}

/** What is served in place of a page; null: the page. */
export type PageLie = (page: Page, request: Requested) => Page | { readonly status: number } | null;

/** The end of a list. */
export const noItems: Page = { items: [], next_page_params: null };

const hex = (digits: number, value: number | bigint) =>
  `0x${value.toString(16).padStart(digits, '0')}`;
export const hashOf = (id: number) => hex(64, id);
export const addressOf = (id: number) => hex(40, id);
export const blockHash = (height: number, edition = 0) =>
  hex(64, BigInt(height) * 1000n + BigInt(edition));

/** When block 0 was, and how long a block takes: what a block number says of an item's time. */
const genesisMs = Date.UTC(2026, 0, 1);
export const blockMs = 2_000;
export const timeOf = (block: number) => new Date(genesisMs + block * blockMs).toISOString();

const sender = `0x${'ab'.repeat(20)}`;

const operationItem = ({ block, id, fee = '1', sender: name, time }: KeptOperation): Item => ({
  hash: hashOf(id),
  address: name === undefined ? sender : { hash: sender, name, is_contract: true },
  entry_point: sender,
  entry_point_version: 'v0.7',
  block_number: String(block),
  transaction_hash: hashOf(id + 1_000_000),
  fee,
  status: true,
  timestamp: time ?? timeOf(block),
});

const transactionOf = (id: number) => hashOf(1_000_000 + Math.floor(id / 2));

/** One for each operation; two of them in some transactions. */
const bundleItem = ({ block, id, fee = '1', time }: KeptOperation): Item => ({
  transaction_hash: transactionOf(id),
  bundle_index: id % 2,
  block_number: String(block),
  bundler: sender,
  timestamp: time ?? timeOf(block),
  total_ops: Number(fee),
});

/** What a newest-first list has of each operation, and the key that names it in a token. */
export const newestLists = {
  operations: { itemOf: operationItem, keyOf: (id: number): Place => [hashOf(id)] },
  bundles: { itemOf: bundleItem, keyOf: (id: number): Place => [transactionOf(id), id % 2] },
} as const;

/** What a ranked list has of an address with a count. */
const rankedLists = {
  ranking: (count: number) => ({ total_accounts: count }),
  bundlers: (count: number) => ({ total_bundles: count, total_ops: count }),
  paymasters: (count: number) => ({ total_ops: count }),
} as const;

const isNewest = (list: ListName): list is keyof typeof newestLists => list in newestLists;
export const isRanked = (list: ListName): list is keyof typeof rankedLists => list in rankedLists;

export const blockItem = ({
  height,
  edition = 0,
  parentEdition = 0,
  isPending = false,
  hasNoParent = false,
}: KeptBlock): Item => ({
  height,
  hash: blockHash(height, edition),
  parent_hash: hasNoParent ? null : blockHash(height - 1, parentEdition),
  is_pending_update: isPending,
});

export const batchItem = ({ number, transactions = 5, blocks }: KeptBatch): Item => ({
  number,
  l1_timestamp: new Date(genesisMs + number * 60_000).toISOString(),
  l1_transaction_hashes: [hashOf(number)],
  batch_data_container: 'in_blob4844',
  l2_start_block_number: blocks?.[0] ?? number * 100,
  l2_end_block_number: blocks?.[1] ?? number * 100 + 99,
  transactions_count: transactions,
});

/** The whole numbers of a range, both ends included. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place);

/** One operation in each block of a range, both ends included. */
export const oneEach = (from: number, to: number): KeptOperation[] =>
  range(from, to).map((block) => ({ block, id: block }));

/** An item, and its place in a list that falls. */
export interface Placed {
  readonly place: Place;
  readonly item: Item;
}

/** Below 0 where the first comes before the second: higher first, by each part in turn. */
function byPlace(one: Place, other: Place): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) > (other[at] ?? 0) ? -1 : 1;
}

const inOrder = (list: readonly Placed[]) => list.toSorted((a, b) => byPlace(a.place, b.place));

/** A page of a list with tokens: from the place that one names on, whether its item is listed or not. */
export function tokenPage(list: readonly Placed[], token: string | null, size: number): Page {
  const from = token?.split(',').map((part) => (part.startsWith('0x') ? part : Number(part)));
  const rest = inOrder(list).filter(({ place }) => from === undefined || byPlace(place, from) >= 0);
  const next = rest[size];
  return {
    items: rest.slice(0, size).map(({ item }) => item),
    next_page_params:
      next === undefined ? null : { page_token: next.place.join(','), page_size: size },
  };
}

/** A page of a list without tokens: below a number, which is that of the last item that was served. */
export function numberPage(
  list: readonly Placed[],
  {
    field,
    below,
    size,
  }: { readonly field: string; readonly below: string | null; readonly size: number },
): Page {
  const rest = inOrder(list).filter(
    ({ place }) => below === null || Number(place[0]) < Number(below),
  );
  const served = rest.slice(0, size);
  return {
    items: served.map(({ item }) => item),
    next_page_params:
      rest.length > size ? { [field]: served.at(-1)?.place[0], items_count: served.length } : null,
  };
}

/** What an honest service answers. */
export function honestPage(
  { operations, batches, listed, factories }: Readonly<KeptLists>,
  { list, batch, cursor }: Requested,
  size: number,
): Page {
  if (isNewest(list)) {
    const { itemOf, keyOf } = newestLists[list];
    const placed = operations.map((operation) => ({
      place: [operation.block, ...keyOf(operation.id)],
      item: itemOf(operation),
    }));
    return tokenPage(placed, cursor, size);
  }
  if (isRanked(list)) {
    const placed = [...factories].map(([id, count]) => ({
      place: [count, addressOf(id)],
      item: { address: addressOf(id), ...rankedLists[list](count) },
    }));
    return tokenPage(placed, cursor, size);
  }
  if (list === 'listed') {
    const placed = listed.map((one) => ({ place: [one.number], item: batchItem(one) }));
    return numberPage(placed, { field: 'id', below: cursor, size });
  }
  const blocks = batches.get(batch ?? 0) ?? [];
  const placed = blocks.map((block) => ({ place: [block.height], item: blockItem(block) }));
  return numberPage(placed, { field: 'block_number', below: cursor, size });
}

function requestedBy({ pathname, searchParams }: URL): Requested {
  const end = pathname.split('/').at(-1) ?? '';
  const list = listNames.find((name) => listFacts[name][1] === end) ?? 'batch';
  const batch = list === 'batch' ? Number(end) : null;
  return { list, batch, cursor: searchParams.get(listFacts[list][3]) };
}

/** An explorer that serves the lists exactly as a test has them at the moment, or lies about them. */
export type KeptExplorer = Awaited<ReturnType<typeof keepLists>>;

export const honestly: PageLie = () => null;

/** Items of a page where the program asks for no number. */
const usualSize = 50;

/**
 * Serves lists until the running test ends.
 *
 * @param pageSize items of a page, whatever is requested; as many as are requested if absent
 */
export async function keepLists(
  lists: { operations?: KeptOperation[]; listed?: KeptBatch[] } = {},
  pageSize?: number,
) {
  const requested: Requested[] = [];
  let until = Infinity;
  let once = honestly;
  const kept = {
    operations: new Array<KeptOperation>(),
    batches: new Map<number, readonly KeptBlock[]>(),
    listed: new Array<KeptBatch>(),
    factories: new Map<number, number>(),
    ...lists,
    url: '',
    /** How long each answer waits, in ms. */
    latencyMs: 0,
    /** Called with each request before its page is looked up. */
    onRequest: (_request: Requested): void => undefined,
    /** What becomes of each page from now on. */
    lie: honestly,
    /** The nth request from now on meets this lie alone, and the next ones the truth again. */
    lieOnce(nth: number, lie: PageLie) {
      until = nth;
      once = lie;
    },
    /** Requests since they were read last, in order. */
    takeRequests: () => requested.splice(0),
  };
  kept.url = await answered(async (url) => {
    const request = requestedBy(url);
    const { searchParams: query } = url;
    requested.push(request);
    until -= 1;
    kept.onRequest(request);
    const size =
      pageSize ?? Number(query.get('page_size') ?? query.get('items_count') ?? usualSize);
    const page = honestPage(kept, request, size);
    const served = (until === 0 ? once : kept.lie)(page, request) ?? page;
    await delay(kept.latencyMs);
    if (!('status' in served)) return { body: served };
    return { ...served, body: { code: 3, message: 'invalid format of page_token' } };
  });
  return kept;
}
