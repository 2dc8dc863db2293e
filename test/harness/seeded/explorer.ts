import { answering, type Service } from '../explorer.ts';
import {
  addressesOf,
  blocksOf,
  blocksPerBatch,
  itemsPerPoll,
  pageItems,
  type SeededChain,
  type SeededSize,
} from './size.ts';
import { accountsOf, hashText, short } from './values.ts';

interface Page {
  readonly items: readonly unknown[];
  readonly next_page_params: unknown;
}

/** Serves what is stored, and what a poll's interval has brought since: operations, a batch. */
export function exploreSeeded(size: SeededSize): Promise<Service> {
  return answering((url) => {
    const page = serve(size, url);
    return page === null ? { status: 404, body: {} } : { body: page };
  });
}

function serve(size: SeededSize, { pathname, searchParams: told }: URL): Page | null {
  const [, id, path = ''] = /^\/(\d+)\/api\/v2\/(.*)$/u.exec(pathname) ?? [];
  const chain = size.chains.find((seeded) => seeded.id === Number(id));
  if (chain === undefined) return null;
  const batch = /^blocks\/optimism-batch\/(\d+)$/u.exec(path)?.[1];
  if (batch !== undefined) return batchPage(size, chain, Number(batch), told);
  if (path.endsWith('operations')) return operationsPage(size, chain, told);
  if (path.endsWith('factories')) return factoriesPage(chain, told);
  return path === 'optimism/batches' ? batchesPage(size, chain, told) : null;
}

/** Numbers from one down, a page of them. */
const downFrom = (top: number, lowest = 1) =>
  Array.from({ length: Math.max(0, Math.min(pageItems, top - lowest + 1)) }, (_, at) => top - at);

const timeOf = ({ nowMs, blockMs }: SeededSize, top: number, height: number) =>
  new Date(nowMs - (top - height) * blockMs).toISOString();

function operationsPage(size: SeededSize, chain: SeededChain, told: URLSearchParams): Page {
  const { id, operations } = chain;
  const from = Number(told.get('page_token')?.split(',')[0] ?? operations.top + itemsPerPoll);
  const numbers = downFrom(from);
  const next = from - pageItems;
  return {
    items: numbers.map((number) => ({
      hash: hashText('operation', id, number),
      block_number: String(number),
      timestamp: timeOf(size, operations.top, number),
      status: true,
      address: { hash: hashText('address', id, 1 + (number % addressesOf(chain)), short) },
      entry_point: { hash: hashText('address', id, 1, short) },
      entry_point_version: 'v0.7',
      transaction_hash: hashText('transaction', id, number),
      fee: '187125856691380',
    })),
    next_page_params:
      next < 1
        ? null
        : { page_size: pageItems, page_token: `${next},${hashText('operation', id, next)}` },
  };
}

function batchesPage(size: SeededSize, chain: SeededChain, told: URLSearchParams): Page {
  const newest = (chain.batches?.top ?? 0) + 1;
  const numbers = downFrom(Math.min(newest, Number(told.get('id') ?? Infinity) - 1));
  const last = numbers.at(-1) ?? 0;
  return {
    items: numbers.map((number) => ({
      number,
      l1_timestamp: timeOf(size, blocksOf(chain), number * blocksPerBatch),
      transactions_count: 700,
      l2_start_block_number: (number - 1) * blocksPerBatch + 1,
      l2_end_block_number: number * blocksPerBatch,
      batch_data_container: 'in_blob4844',
      l1_transaction_hashes: [],
    })),
    next_page_params: last <= 1 ? null : { id: last, items_count: numbers.length },
  };
}

function batchPage(
  size: SeededSize,
  chain: SeededChain,
  batch: number,
  told: URLSearchParams,
): Page {
  const newest = (chain.batches?.top ?? 0) + 1;
  const lowest = (batch - 1) * blocksPerBatch + 1;
  const top = Math.min(batch * blocksPerBatch, Number(told.get('block_number') ?? Infinity) - 1);
  const numbers = batch > newest || batch < 1 ? [] : downFrom(top, lowest);
  const last = numbers.at(-1) ?? lowest;
  return {
    items: numbers.map((height) => ({
      height,
      hash: hashText('block', chain.id, height),
      parent_hash: hashText('block', chain.id, height - 1),
      timestamp: timeOf(size, blocksOf(chain), height),
      type: 'block',
      miner: { hash: hashText('address', chain.id, 1, short) },
      size: 1234,
      is_pending_update: false,
      transactions_count: 7,
      gas_used: '1000000',
      rewards: [],
      uncles_hashes: [],
    })),
    next_page_params: last <= lowest ? null : { block_number: last, items_count: numbers.length },
  };
}

function factoriesPage({ id, factories: { count } }: SeededChain, told: URLSearchParams): Page {
  const named = told.get('page_token')?.split(',')[0];
  const first = named === undefined ? 1 : count + 1 - Number(named) / 10;
  const ranks = Array.from(
    { length: Math.min(pageItems, count - first + 1) },
    (_, at) => first + at,
  );
  const next = first + pageItems;
  return {
    items: ranks.map((rank) => ({
      address: { hash: hashText('factory', id, rank, short) },
      total_accounts: accountsOf(count, rank),
    })),
    next_page_params:
      next > count
        ? null
        : {
            page_size: pageItems,
            page_token: `${accountsOf(count, next)},${hashText('factory', id, next, short)}`,
          },
  };
}
