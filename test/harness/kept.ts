import type { FaultRequest, Item, Page, PageFault, StatedItem } from '../../simulator/index.ts';
import { type OperationName, operations } from '../../src/lists/registry.ts';
import { plainChain, simulated } from './explorer.ts';

export type { Page } from '../../simulator/index.ts';

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

/** All that an explorer lists, in any order. */
export interface KeptLists {
  operations: readonly KeptOperation[];
  /** The blocks of each batch. */
  batches: ReadonlyMap<number, readonly KeptBlock[]>;
  /** The list of batches. */
  listed: readonly KeptBatch[];
  /** Counts by address; each ranking has the same. */
  counts: ReadonlyMap<number, number>;
}

const hex = (digits: number, value: number | bigint) =>
  `0x${value.toString(16).padStart(digits, '0')}`;
export const hashOf = (id: number) => hex(64, id);
export const addressOf = (id: number) => hex(40, id);
const blockHash = (height: number, edition = 0) =>
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

/** One for each operation; two of them in some transactions. */
const bundleItem = ({ block, id, fee = '1', time }: KeptOperation): Item => ({
  transaction_hash: hashOf(1_000_000 + Math.floor(id / 2)),
  bundle_index: id % 2,
  block_number: String(block),
  bundler: sender,
  timestamp: time ?? timeOf(block),
  total_ops: Number(fee),
});

/** The lists of operations, newest first: what each has of one, and its field for what the operation says of `fee`. */
export const newestLists = {
  'user-operations': { itemOf: operationItem, fee: 'fee' },
  bundles: { itemOf: bundleItem, fee: 'total_ops' },
} as const;

export const isNewest = (list: string): list is keyof typeof newestLists => list in newestLists;

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

/** What an explorer states of a list, in any order. */
export function itemsOf(
  { operations: kept, batches, listed, counts }: Readonly<KeptLists>,
  list: OperationName,
  batch: number | null = null,
): StatedItem[] {
  const declared = operations[list];
  if (isNewest(list)) {
    return kept.map((operation) => {
      const printed = newestLists[list].itemOf(operation);
      const key = declared.order?.key.map(({ names: [name = ''] }) => printed[name]).join() ?? '';
      return { value: operation.block, key, printed };
    });
  }
  if ('ranking' in declared) {
    return [...counts].map(([id, count]) => {
      const address = addressOf(id);
      return { value: count, key: address, printed: { address, [declared.ranking.total]: count } };
    });
  }
  if (declared.kind === 'newest-first') {
    return listed.map((one) => ({ value: one.number, key: '', printed: batchItem(one) }));
  }
  return (batches.get(batch ?? 0) ?? []).map((block) => {
    return { value: block.height, key: '', printed: blockItem(block) };
  });
}

/** A request for a page. */
export type Requested = Pick<FaultRequest, 'operation' | 'batch' | 'cursor' | 'cursorName'>;

/** A request that is about to be answered. */
export interface Answering extends Requested {
  /** The true page of the same list at another cursor. */
  readonly pageAt: (cursor: string | null) => Page;
  /** The true first page of another batch. */
  readonly firstPageOf: (batch: number) => Page;
}

/** What is served in place of a true page; null: the page. */
export type PageLie = (page: Page, request: Answering) => Page | { readonly status: number } | null;

/** The end of a list. */
export const noItems: Page = { items: [], next_page_params: null };

/** An explorer that serves the lists exactly as a test has them at the moment, or lies about them. */
export type KeptExplorer = Awaited<ReturnType<typeof keepLists>>;

export const honestly: PageLie = () => null;

/** Serves lists until the running test ends. */
export async function keepLists(
  lists: { operations?: KeptOperation[]; listed?: KeptBatch[] } = {},
) {
  const requested: Requested[] = [];
  let until = Infinity;
  let once = honestly;
  const kept = {
    operations: new Array<KeptOperation>(),
    batches: new Map<number, readonly KeptBlock[]>(),
    listed: new Array<KeptBatch>(),
    counts: new Map<number, number>(),
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
  const stated = (list: string, batch: number | null) =>
    itemsOf(kept, list as OperationName, batch);
  const simulator = await simulated({
    seed: 1,
    chains: [{ ...plainChain, stated }],
    get latencyMs() {
      return kept.latencyMs;
    },
    faults(request) {
      requested.push(request);
      until -= 1;
      kept.onRequest(request);
      return asServed(until === 0 ? once : kept.lie, request);
    },
  });
  return Object.assign(kept, { url: simulator.url, close: () => simulator.close() });
}

/** A lie as the simulator plays it. */
const asServed = (lie: PageLie, request: Requested): PageFault => ({
  page(url, serve) {
    const answer = serve(url);
    if (answer.status !== 200) return answer;
    const pageAt = (cursor: string | null) => {
      const other = new URL(url);
      other.searchParams.delete(request.cursorName);
      if (cursor !== null) other.searchParams.set(request.cursorName, cursor);
      return serve(other).body as Page;
    };
    const firstPageOf = (batch: number) => {
      const other = new URL(url);
      other.searchParams.delete(request.cursorName);
      other.pathname = other.pathname.replace(/[^/]+$/u, String(batch));
      return serve(other).body as Page;
    };
    const served = lie(answer.body as Page, { ...request, pageAt, firstPageOf });
    if (served === null) return answer;
    if (!('status' in served)) return { ...answer, body: served };
    return { ...answer, ...served, body: { code: 3, message: 'invalid format of page_token' } };
  },
});
