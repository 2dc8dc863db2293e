import { loadSettings } from '../../../src/config/load.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { answering, type Service, testKey } from '../explorer.ts';
import { numberPage, type Page, type Placed, tokenPage } from '../kept.ts';
import {
  addressesOf,
  blocksOf,
  blocksPerBatch,
  itemsPerPoll,
  pageItems,
  type SeededChain,
  type SeededSize,
  hashText,
  short,
} from './size.ts';

/** Serves what is stored, and what a poll's interval has brought since: operations, a batch. */
export function exploreSeeded(size: SeededSize): Promise<Service> {
  return answering((url) => {
    const page = serve(size, url);
    return page === null ? { status: 404, body: {} } : { body: page };
  });
}

function serve(size: SeededSize, { pathname, searchParams: query }: URL): Page | null {
  const [, id, path = ''] = /^\/(\d+)\/api\/v2\/(.*)$/u.exec(pathname) ?? [];
  const chain = size.chains.find((seeded) => seeded.id === Number(id));
  if (chain === undefined) return null;
  const batch = /^blocks\/optimism-batch\/(\d+)$/u.exec(path)?.[1];
  if (batch !== undefined) return batchPage(size, chain, Number(batch), query);
  if (path.endsWith('operations')) return operationsPage(size, chain, query);
  if (path.endsWith('factories')) return factoriesPage(chain, query);
  return path === 'optimism/batches' ? batchesPage(size, chain, query) : null;
}

/** Numbers from one down, a page of them and one more. */
const downFrom = (top: number, lowest = 1) =>
  Array.from(
    { length: Math.max(0, Math.min(pageItems + 1, top - lowest + 1)) },
    (_, at) => top - at,
  );

const timeOf = ({ nowMs, blockMs }: SeededSize, top: number, height: number) =>
  new Date(nowMs - (top - height) * blockMs).toISOString();

function operationsPage(size: SeededSize, chain: SeededChain, query: URLSearchParams): Page {
  const { id, operations } = chain;
  const from = Number(query.get('page_token')?.split(',')[0] ?? operations.top + itemsPerPoll);
  const placed = downFrom(from).map((number): Placed => {
    const hash = hashText('operation', id, number);
    const item = {
      hash,
      block_number: String(number),
      timestamp: timeOf(size, operations.top, number),
      status: true,
      address: { hash: hashText('address', id, 1 + (number % addressesOf(chain)), short) },
      entry_point: { hash: hashText('address', id, 1, short) },
      entry_point_version: 'v0.7',
      transaction_hash: hashText('transaction', id, number),
      fee: '187125856691380',
    };
    return { place: [number, hash], item };
  });
  return tokenPage(placed, null, pageItems);
}

function batchesPage(size: SeededSize, chain: SeededChain, query: URLSearchParams): Page {
  const newest = (chain.batches?.top ?? 0) + 1;
  const below = query.get('id');
  const placed = downFrom(Math.min(newest, Number(below ?? Infinity) - 1)).map((number) => ({
    place: [number],
    item: {
      number,
      l1_timestamp: timeOf(size, blocksOf(chain), number * blocksPerBatch),
      transactions_count: 700,
      l2_start_block_number: (number - 1) * blocksPerBatch + 1,
      l2_end_block_number: number * blocksPerBatch,
      batch_data_container: 'in_blob4844',
      l1_transaction_hashes: [],
    },
  }));
  return numberPage(placed, { field: 'id', below, size: pageItems });
}

function batchPage(
  size: SeededSize,
  chain: SeededChain,
  batch: number,
  query: URLSearchParams,
): Page {
  const newest = (chain.batches?.top ?? 0) + 1;
  const lowest = (batch - 1) * blocksPerBatch + 1;
  const below = query.get('block_number');
  const top = Math.min(batch * blocksPerBatch, Number(below ?? Infinity) - 1);
  const heights = batch > newest || batch < 1 ? [] : downFrom(top, lowest);
  const placed = heights.map((height) => ({
    place: [height],
    item: {
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
    },
  }));
  return numberPage(placed, { field: 'block_number', below, size: pageItems });
}

function factoriesPage({ id, factories: { count } }: SeededChain, query: URLSearchParams): Page {
  const named = query.get('page_token')?.split(',')[0];
  const highest = named === undefined ? count : Number(named) / 10;
  const placed = downFrom(highest).map((accounts): Placed => {
    const hash = hashText('factory', id, count + 1 - accounts, short);
    return {
      place: [accounts * 10, hash],
      item: { address: { hash }, total_accounts: accounts * 10 },
    };
  });
  return tokenPage(placed, null, pageItems);
}

/** Far above what any machine reaches, so that the budget is asked and never waits. */
const requestsPerSecond = 100_000;

/** The program's own settings for seeded chains: all that each of them has. */
export function seededSettings(explorerUrl: string, size: Pick<SeededSize, 'chains'>): Settings {
  const settings = loadSettings({
    cwd: '/',
    env: { EXPLORER_BASE_URL: explorerUrl, EXPLORER_API_KEY: testKey },
    chains: size.chains.map(({ id }) => String(id)),
  });
  const hasBatches = new Set(
    size.chains.filter(({ batches }) => batches !== null).map(({ id }) => id),
  );
  return {
    ...settings,
    explorer: { ...settings.explorer, requestsPerSecond, pageSize: pageItems },
    chains: settings.chains.map((chain) => ({
      ...chain,
      operations: Object.fromEntries(
        Object.entries(chain.operations).filter(
          ([operation]) => hasBatches.has(chain.id) || !operation.startsWith('optimism-'),
        ),
      ),
    })),
  };
}
