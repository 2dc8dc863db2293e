import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** A batch that a test lists, changes and takes away by hand. */
export interface ListedBatch {
  readonly number: number;
  readonly transactions?: number;
  /** The stated first and last block; made from the number if absent. */
  readonly blocks?: readonly [number, number];
}

type Page = { readonly items: readonly object[]; readonly next_page_params: object | null };

interface BatchList {
  readonly url: string;
  /** What is listed, in any order; served highest number first. */
  batches: ListedBatch[];
  /** What becomes of each page from now on; `below` is the number that its cursor says, if it has one. */
  alter: (page: Page, below: number | null) => Page;
  /** Requests since it was read last. */
  takeRequests(): number;
}

const genesisMs = Date.UTC(2026, 0, 1);
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;

/** One batch for each number of a range, both ends included. */
export const batchesOf = (from: number, to: number): ListedBatch[] =>
  Array.from({ length: to - from + 1 }, (_, place) => ({ number: from + place }));

export const itemOf = ({ number, transactions = 5, blocks }: ListedBatch) => ({
  number,
  l1_timestamp: new Date(genesisMs + number * 60_000).toISOString(),
  l1_transaction_hashes: [hashOf(number)],
  batch_data_container: 'in_blob4844',
  l2_start_block_number: blocks?.[0] ?? number * 100,
  l2_end_block_number: blocks?.[1] ?? number * 100 + 99,
  transactions_count: transactions,
});

/** An explorer that serves the list of batches, exactly as a test says at the moment. */
export async function serveBatchList(batches: ListedBatch[]): Promise<BatchList> {
  let requests = 0;
  const list: Omit<BatchList, 'url'> = {
    batches,
    alter: (page) => page,
    takeRequests() {
      const seen = requests;
      requests = 0;
      return seen;
    },
  };
  const server = createServer((request, response) => {
    requests += 1;
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const size = Number(query.get('items_count') ?? 50);
    const id = query.get('id');
    const found = list.batches
      .toSorted((a, b) => b.number - a.number)
      .filter(({ number }) => id === null || number < Number(id));
    const page = found.slice(0, size);
    const next = found.length > size ? { id: page.at(-1)?.number } : null;
    const served = { items: page.map(itemOf), next_page_params: next };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(list.alter(served, id === null ? null : Number(id))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const bound = server.address();
  const url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
  return Object.assign(list, { url });
}
