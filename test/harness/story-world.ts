import { chanceOf, type Chance } from './random.ts';

/** What the service would list if it were honest. */
export interface Truth {
  readonly operations: ReadonlyMap<number, TrueOperation>;
  readonly batches: ReadonlyMap<number, readonly TrueBlock[]>;
  /** Accounts by factory. */
  readonly factories: ReadonlyMap<number, number>;
}

export interface TrueOperation {
  readonly block: number;
  readonly id: number;
  readonly fee: number;
}

export interface TrueBlock {
  readonly height: number;
  readonly isPending: boolean;
}

const padded = (value: number, digits: number) => value.toString(16).padStart(digits, '0');

/** Not in the order of ids, so that the order within a block is one of its own. */
export const operationHash = (id: number) =>
  `0x${padded((id * 2_654_435_761) % 2 ** 32, 8)}${padded(id, 56)}`;
export const blockHash = (height: number) => `0x${padded(height, 64)}`;
export const factoryAddress = (id: number) =>
  `0x${padded((id * 2_654_435_761) % 2 ** 32, 8)}${padded(id, 32)}`;

/** Above every number that a lie puts too low. */
const firstBlock = 200;
const firstHeight = 10_000;

/** A small chain that moves a little on request; the same for a seed. */
export class World {
  /** Operations that the last move put behind the head. */
  arrivedLate: readonly number[] = [];
  readonly #seed: number;
  #moves = 0;
  #nextId = 1;
  #head = firstBlock;
  #nextHeight = firstHeight;
  #newestBatch = 0;
  readonly #operations = new Map<number, TrueOperation>();
  readonly #batches = new Map<number, TrueBlock[]>();
  readonly #factories = new Map<number, number>();

  constructor(seed: number) {
    this.#seed = seed;
    const chance = chanceOf(seed, 'world');
    this.#addOperations(chance, chance.whole(60, 160));
    const batches = chance.whole(2, 5);
    for (let count = 0; count < batches; count += 1) this.#addBatch(chance);
    for (let id = 1; id <= 60; id += 1) this.#factories.set(id, chance.whole(1, 60));
  }

  /** As it is now; later moves leave it as it is. */
  truth(): Truth {
    return {
      operations: new Map(this.#operations),
      batches: new Map(this.#batches),
      factories: new Map(this.#factories),
    };
  }

  /** Something happens on the chain. */
  move(): void {
    this.#moves += 1;
    this.arrivedLate = [];
    const chance = chanceOf(this.#seed, `move ${this.#moves}`);
    this.#addOperations(chance, chance.pick([0, 0, 1, 4, 25]));
    if (chance.percent(30)) this.#arriveLate(chance);
    if (chance.percent(30)) this.#operations.delete(chance.pick([...this.#operations.keys()]));
    if (chance.percent(50)) this.#growNewest(chance);
    if (chance.percent(50)) this.#addBatch(chance);
    if (chance.percent(50)) {
      this.#factories.set(chance.pick([...this.#factories.keys()]), chance.whole(1, 60));
    }
    if (chance.percent(30)) this.#factories.set(1000 + this.#moves, chance.whole(1, 60));
    if (chance.percent(20)) this.#factories.delete(chance.pick([...this.#factories.keys()]));
  }

  /** The list of operations goes on: what left at its very head is known to be gone only then. */
  grow(): void {
    const chance = chanceOf(this.#seed, 'growth');
    for (let added = 0; added < 2; added += 1) {
      this.#head += 1;
      this.#add(this.#head, chance);
    }
  }

  /** Batches up to above every number that the list of batches named too early. */
  addBatches(): void {
    const chance = chanceOf(this.#seed, 'batches');
    for (let added = 0; added < 7; added += 1) this.#addBatch(chance);
  }

  #addOperations(chance: Chance, count: number): void {
    for (let added = 0; added < count; added += 1) {
      // Some blocks have several.
      if (!chance.percent(25)) this.#head += chance.whole(1, 4);
      this.#add(this.#head, chance);
    }
  }

  #arriveLate(chance: Chance): void {
    this.arrivedLate = [this.#nextId];
    this.#add(chance.whole(Math.max(firstBlock, this.#head - 40), this.#head), chance);
  }

  #add(block: number, chance: Chance): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#operations.set(id, { block, id, fee: chance.whole(1, 1_000_000) });
  }

  #addBatch(chance: Chance): void {
    // Numbering has gaps.
    this.#newestBatch += this.#newestBatch > 0 && chance.percent(10) ? 2 : 1;
    this.#batches.set(this.#newestBatch, this.#newBlocks(chance.whole(8, 35)));
  }

  /** The newest batch can be seen while it fills. */
  #growNewest(chance: Chance): void {
    const blocks = this.#batches.get(this.#newestBatch) ?? [];
    const grown = [...blocks, ...this.#newBlocks(chance.whole(1, 12))];
    this.#batches.set(this.#newestBatch, grown);
  }

  #newBlocks(count: number): TrueBlock[] {
    return Array.from({ length: count }, () => {
      this.#nextHeight += 1;
      return { height: this.#nextHeight, isPending: false };
    });
  }
}

export type Item = Record<string, unknown>;
type Cursor = Record<string, string | number>;

/** A page as it is served; without `next_page_params` the key is left out of the body. */
export interface Page {
  readonly items: readonly Item[];
  readonly next_page_params?: Cursor | null;
}

export const listNames = ['operations', 'batch', 'ranking', 'listed'] as const;
export type ListName = (typeof listNames)[number];

/** A request for a page, played apart by what it asks for and by nothing else. */
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
