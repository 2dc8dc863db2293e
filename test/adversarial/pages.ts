import {
  blockHash,
  factoryAddress,
  operationHash,
  type Truth,
  type TrueOperation,
} from './world.ts';

export type Item = Record<string, unknown>;
type Cursor = Record<string, string | number>;

/** A page as it is served; without `next_page_params` the key is left out of the body. */
export interface Page {
  readonly items: readonly Item[];
  readonly next_page_params?: Cursor | null;
}

export const listNames = ['operations', 'batch', 'ranking', 'listed'] as const;
export type ListName = (typeof listNames)[number];

/** A request for a page, told apart by what it asks for and by nothing else. */
export interface Requested {
  readonly list: ListName;
  /** Null for the other lists. */
  readonly batch: number | null;
  /** As it stands in the query; null for a list's first page. */
  readonly cursor: string | null;
}

export const keyOf = ({ list, batch, cursor }: Requested) =>
  `${list}${batch === null ? '' : ` ${batch}`} from ${cursor ?? 'its head'}`;

/** Items of a page, whatever is request. */
export const pageSize = 10;

const genesisMs = Date.UTC(2026, 0, 1);
const blockMs = 2_000;
/** When a block was. */
export const timeOf = (block: number) => new Date(genesisMs + block * blockMs).toISOString();
/** How many blocks come in a time. */
export const blocksWithin = (ms: number) => Math.floor(ms / blockMs);
const sender = `0x${'ab'.repeat(20)}`;

const operationItem = ({ block, id, fee }: TrueOperation): Item => ({
  hash: operationHash(id),
  address: sender,
  entry_point: sender,
  entry_point_version: 'v0.7',
  block_number: String(block),
  transaction_hash: operationHash(id + 1_000_000),
  fee: String(fee),
  status: true,
  timestamp: timeOf(block),
});

/** An item, and the cursor that leads to the page which begins with it. */
interface Placed {
  readonly item: Item;
  readonly cursor: string;
}

function placedOperations({ operations }: Truth): Placed[] {
  return [...operations.values()]
    .map((operation) => ({ ...operation, hash: operationHash(operation.id) }))
    .sort((a, b) => b.block - a.block || (a.hash < b.hash ? 1 : -1))
    .map((operation) => ({
      item: operationItem(operation),
      cursor: `${operation.block},${operation.hash}`,
    }));
}

function placedFactories({ factories }: Truth): Placed[] {
  return [...factories]
    .map(([id, accounts]) => ({ address: factoryAddress(id), accounts }))
    .sort((a, b) => b.accounts - a.accounts || (a.address < b.address ? 1 : -1))
    .map(({ address, accounts }) => ({
      item: { address, total_accounts: accounts },
      cursor: `${accounts},${address}`,
    }));
}

/** Whether a token's position lies at or above an item's: both are number, then hash, falling. */
function isAtOrBelow(cursor: string, token: string): boolean {
  const [number, hash = ''] = cursor.split(',');
  const [from, fromHash = ''] = token.split(',');
  return Number(number) < Number(from) || (Number(number) === Number(from) && hash <= fromHash);
}

/** The page of a list by token: from its position downward, whether it is still listed or not. */
function tokenPage(placed: readonly Placed[], token: string | null): Page {
  const below = placed.filter(({ cursor }) => token === null || isAtOrBelow(cursor, token));
  const next = below[pageSize];
  return {
    items: below.slice(0, pageSize).map(({ item }) => item),
    next_page_params: next === undefined ? null : { page_token: next.cursor, page_size: pageSize },
  };
}

function blocksPage({ batches }: Truth, batch: number, before: string | null): Page {
  const below = (batches.get(batch) ?? [])
    .filter(({ height }) => before === null || height < Number(before))
    .toSorted((a, b) => b.height - a.height);
  const served = below.slice(0, pageSize);
  const last = served.at(-1);
  return {
    items: served.map(({ height, isPending }) => ({
      height,
      hash: blockHash(height),
      parent_hash: blockHash(height - 1),
      is_pending_update: isPending,
      timestamp: timeOf(height),
    })),
    next_page_params:
      last === undefined || below.length <= pageSize
        ? null
        : { block_number: last.height, items_count: pageSize },
  };
}

/** What the list of batches says of one. */
export const listedItem = (number: number, start: number, end: number): Item => ({
  number,
  l1_timestamp: new Date(genesisMs + number * 60_000).toISOString(),
  l1_transaction_hashes: [],
  batch_data_container: 'in_calldata',
  l2_start_block_number: start,
  l2_end_block_number: end,
  transactions_count: 1,
});

function listedPage({ batches }: Truth, before: string | null): Page {
  const below = [...batches]
    .filter(([number]) => before === null || number < Number(before))
    .sort(([a], [b]) => b - a);
  const served = below.slice(0, pageSize);
  return {
    items: served.map(([number, blocks]) =>
      listedItem(number, blocks[0]?.height ?? 0, blocks.at(-1)?.height ?? 0),
    ),
    next_page_params: below.length > pageSize ? { id: served.at(-1)?.[0] ?? 0 } : null,
  };
}

/** What an honest service answers. */
export function honestPage(truth: Truth, { list, batch, cursor }: Requested): Page {
  switch (list) {
    case 'operations':
      return tokenPage(placedOperations(truth), cursor);
    case 'ranking':
      return tokenPage(placedFactories(truth), cursor);
    case 'listed':
      return listedPage(truth, cursor);
    case 'batch':
      return blocksPage(truth, batch ?? 0, cursor);
  }
}

/** The request that a page's cursor leads to; null at the list's end. */
export function nextOf(request: Requested, { next_page_params: next }: Page): Requested | null {
  if (next === null || next === undefined) return null;
  return { ...request, cursor: String(next['page_token'] ?? next['block_number'] ?? next['id']) };
}
