import { answered, counted } from './explorer.ts';

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
  /** The numbers that were requested since this was read last, in order, one for each page of blocks. */
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
  let requested: number[] = [];
  const batches = new Map<number, ListedBlock[]>();
  const looping = new Set<number>();
  const list: Pick<BatchesList, 'alter' | 'stated'> = { alter: (page) => page, stated: null };
  const url = await answered(({ pathname, searchParams }) => {
    if (pathname.endsWith('/optimism/batches')) {
      const items = [...(list.stated ?? [])].map(([number, blocks]) => statedItem(number, blocks));
      const newestFirst = items.toSorted((one, other) => other.number - one.number);
      return {
        status: list.stated === null ? 400 : 200,
        body: { items: newestFirst, next_page_params: null },
      };
    }
    const number = Number(pathname.split('/').at(-1));
    requested.push(number);
    const before = Number(searchParams.get('block_number') ?? Infinity);
    const below = (batches.get(number) ?? [])
      .toSorted((one, other) => other.height - one.height)
      .filter(({ height }) => height < before);
    const page = below.slice(0, pageSize);
    const cursor = looping.has(number) ? 2 : (page.at(-1)?.height ?? 0);
    const isEnd = !looping.has(number) && below.length <= pageSize;
    const served = {
      items: page.map(itemOf),
      next_page_params: isEnd ? null : { block_number: cursor, items_count: page.length },
    };
    return { body: list.alter(served, number, before === Infinity ? null : before) };
  });
  return Object.assign(list, {
    url,
    batches,
    looping,
    takeRequests() {
      const taken = requested;
      requested = [];
      return taken;
    },
  });
}

/** A batch that a test lists, changes and takes away by hand. */
export interface ListedBatch {
  readonly number: number;
  readonly transactions?: number;
  /** The stated first and last block; made from the number if absent. */
  readonly blocks?: readonly [number, number];
}

type ListPage = { readonly items: readonly object[]; readonly next_page_params: object | null };

interface BatchList {
  readonly url: string;
  /** What is listed, in any order; served highest number first. */
  batches: ListedBatch[];
  /** What becomes of each page from now on; `below` is the number that its cursor says, if it has one. */
  alter: (page: ListPage, below: number | null) => ListPage;
  /** Requests since it was read last. */
  takeRequests(): number;
}

const genesisMs = Date.UTC(2026, 0, 1);

/** One batch for each number of a range, both ends included. */
export const batchesOf = (from: number, to: number): ListedBatch[] =>
  Array.from({ length: to - from + 1 }, (_, place) => ({ number: from + place }));

export const batchItemOf = ({ number, transactions = 5, blocks }: ListedBatch) => ({
  number,
  l1_timestamp: new Date(genesisMs + number * 60_000).toISOString(),
  l1_transaction_hashes: [hashOf(0, number)],
  batch_data_container: 'in_blob4844',
  l2_start_block_number: blocks?.[0] ?? number * 100,
  l2_end_block_number: blocks?.[1] ?? number * 100 + 99,
  transactions_count: transactions,
});

/** An explorer that serves the list of batches, exactly as a test says at the moment. */
export async function serveBatchList(batches: ListedBatch[]): Promise<BatchList> {
  const requests = counted();
  const list: Omit<BatchList, 'url'> = {
    batches,
    alter: (page) => page,
    takeRequests: requests.take,
  };
  const url = await answered(({ searchParams: query }) => {
    requests.count();
    const size = Number(query.get('items_count') ?? 50);
    const id = query.get('id');
    const found = list.batches
      .toSorted((one, other) => other.number - one.number)
      .filter(({ number }) => id === null || number < Number(id));
    const page = found.slice(0, size);
    const next = found.length > size ? { id: page.at(-1)?.number } : null;
    const served = { items: page.map(batchItemOf), next_page_params: next };
    return { body: list.alter(served, id === null ? null : Number(id)) };
  });
  return Object.assign(list, { url });
}
