import { setTimeout as delay } from 'node:timers/promises';
import { answered, counted } from './explorer.ts';

/** A user operation that a test lists, moves and takes away by hand. */
export interface ListedOperation {
  readonly block: number;
  /** Tells operations apart; made into a hash. */
  readonly id: number;
  readonly fee?: string;
  /** The name that its sender is shown with; without one the sender is a bare hash. */
  readonly sender?: string;
  /** The time that it reports; without one that of its block. */
  readonly time?: string;
}

export interface OperationsList {
  readonly url: string;
  /** Requests since it was read last. */
  takeRequests(): number;
  /** What is listed, in any order; served newest block first, then highest hash. */
  operations: ListedOperation[];
  /** Serves pages in reverse while true. */
  isDisordered: boolean;
  /** How long each answer waits, in ms. */
  latencyMs: number;
  /** Called with each request's token before it is answered; an answer of its own takes the list's place. */
  onRequest: (token: string | null) => Page | Refusal | null;
}

/** A page as it is served: its items, and the token of the next. */
interface Page {
  readonly operations: readonly ListedOperation[];
  readonly next: string | null;
}

interface Refusal {
  readonly status: number;
}

/** When block 0 was, and how long a block takes: what a block number says of an item's time. */
const genesisMs = Date.UTC(2026, 0, 1);
const blockMs = 2_000;

export const hashOf = (id: number) => `0x${id.toString(16).padStart(64, '0')}`;
const address = `0x${'ab'.repeat(20)}`;

const itemOf = ({ block, id, fee = '1', sender, time }: ListedOperation) => ({
  hash: hashOf(id),
  address: sender === undefined ? address : { hash: address, name: sender, is_contract: true },
  entry_point: address,
  entry_point_version: 'v0.7',
  block_number: String(block),
  transaction_hash: hashOf(id + 1_000_000),
  fee,
  status: true,
  timestamp: time ?? new Date(genesisMs + block * blockMs).toISOString(),
});

/** An explorer that serves one list of user operations, exactly as a test says at the moment. */
export async function listOperations(operations: ListedOperation[]): Promise<OperationsList> {
  const requests = counted();
  const list = {
    operations,
    isDisordered: false,
    latencyMs: 0,
    onRequest: (() => null) as OperationsList['onRequest'],
    url: '',
    takeRequests: requests.take,
  };
  const pageAt = (token: string | null, size: number): Page => {
    const ordered = list.operations
      .map((operation) => ({ ...operation, hash: hashOf(operation.id) }))
      .sort((a, b) => b.block - a.block || (a.hash < b.hash ? 1 : -1));
    const [block, hash] = token?.split(',') ?? [];
    const from = ordered.filter(
      (operation) =>
        token === null ||
        operation.block < Number(block) ||
        (operation.block === Number(block) && operation.hash <= (hash ?? '')),
    );
    const next = from[size];
    return {
      operations: from.slice(0, size),
      next: next === undefined ? null : `${next.block},${next.hash}`,
    };
  };
  list.url = await answered(async ({ searchParams: query }) => {
    requests.count();
    const size = Number(query.get('page_size') ?? 50);
    const token = query.get('page_token');
    const page = list.onRequest(token) ?? pageAt(token, size);
    await delay(list.latencyMs);
    if ('status' in page) {
      return { ...page, body: { code: 3, message: 'invalid format of page_token' } };
    }
    const items = page.operations.map(itemOf);
    const next = page.next === null ? null : { page_size: size, page_token: page.next };
    return {
      body: { items: list.isDisordered ? items.toReversed() : items, next_page_params: next },
    };
  });
  return list;
}
