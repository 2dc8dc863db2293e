import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** A block that a test lists, moves and replaces by hand. */
export interface ListedBlock {
  readonly height: number;
  /** Tells blocks of one height apart: after a reorganisation another one stands there. */
  readonly edition?: number;
  /** That of the block below; 0 if absent. */
  readonly parentEdition?: number;
  readonly isPending?: boolean;
  /** Whether it does not tell the block below it. */
  readonly hasNoParent?: boolean;
}

type Item = Record<string, unknown>;

/** A page of a batch as it is served. */
export interface BatchPage {
  readonly items: readonly Item[];
  readonly next_page_params: Item | null;
}

interface BatchesList {
  readonly url: string;
  /** What each number lists now, in any order; served highest first. */
  readonly batches: Map<number, ListedBlock[]>;
  /** What the list of batches tells: the first and last block of each. Null: no such list is served. */
  stated: ReadonlyMap<number, readonly [number, number]> | null;
  /** Numbers whose list leads back to its own beginning. */
  readonly looping: Set<number>;
  /** What becomes of each page from now on; `from` is the height that its cursor says, if it has one. */
  alter: (page: BatchPage, number: number, from: number | null) => BatchPage;
  /** The numbers that were asked for since this was read last, in order, one for each page of blocks. */
  takeRequests(): number[];
}

const hashOf = (height: number, edition: number) =>
  `0x${(BigInt(height) * 1000n + BigInt(edition)).toString(16).padStart(64, '0')}`;

export const itemOf = ({
  height,
  edition = 0,
  parentEdition = 0,
  isPending = false,
  hasNoParent = false,
}: ListedBlock): Item => ({
  height,
  hash: hashOf(height, edition),
  parent_hash: hasNoParent ? null : hashOf(height - 1, parentEdition),
  is_pending_update: isPending,
});

const statedItem = (number: number, [start, end]: readonly [number, number]) => ({
  number,
  l1_timestamp: new Date(Date.UTC(2026, 4, 1) + number * 600_000).toISOString(),
  l1_transaction_hashes: [],
  batch_data_container: 'in_calldata',
  l2_start_block_number: start,
  l2_end_block_number: end,
  transactions_count: 1,
});

/** Blocks of a range of heights, both ends included. */
export const blocksOf = (from: number, to: number): ListedBlock[] =>
  Array.from({ length: to - from + 1 }, (_, place) => ({ height: from + place }));

export const pageSize = 50;

/** An explorer that serves batches of blocks, exactly as a test says at the moment. */
export async function listBatches(): Promise<BatchesList> {
  let asked: number[] = [];
  const batches = new Map<number, ListedBlock[]>();
  const looping = new Set<number>();
  const list: Pick<BatchesList, 'alter' | 'stated'> = { alter: (page) => page, stated: null };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('content-type', 'application/json');
    if (url.pathname.endsWith('/optimism/batches')) {
      if (list.stated === null) response.statusCode = 400;
      const items = [...(list.stated ?? [])].map(([number, blocks]) => statedItem(number, blocks));
      const newestFirst = items.toSorted((a, b) => b.number - a.number);
      response.end(JSON.stringify({ items: newestFirst, next_page_params: null }));
      return;
    }
    const number = Number(url.pathname.split('/').at(-1));
    asked.push(number);
    const before = Number(url.searchParams.get('block_number') ?? Infinity);
    const below = (batches.get(number) ?? [])
      .toSorted((a, b) => b.height - a.height)
      .filter(({ height }) => height < before);
    const page = below.slice(0, pageSize);
    const cursor = looping.has(number) ? 2 : (page.at(-1)?.height ?? 0);
    const isEnd = !looping.has(number) && below.length <= pageSize;
    const served = {
      items: page.map(itemOf),
      next_page_params: isEnd ? null : { block_number: cursor, items_count: page.length },
    };
    const from = before === Infinity ? null : before;
    response.end(JSON.stringify(list.alter(served, number, from)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const bound = server.address();
  return Object.assign(list, {
    url: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`,
    batches,
    looping,
    takeRequests() {
      const taken = asked;
      asked = [];
      return taken;
    },
  });
}
