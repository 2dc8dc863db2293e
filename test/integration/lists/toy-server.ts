import { type Answer, answering } from '../../harness/answers.ts';

export interface Bundle {
  readonly block_number: number;
  readonly transaction: number;
  readonly bundle_index: number;
}

export interface Bundler {
  readonly id: number;
  readonly total_ops: number;
}

const hex = (digits: number, value: number) => `0x${value.toString(16).padStart(digits, '0')}`;
export const hashOf = (transaction: number) => hex(64, transaction);
export const addressOf = (id: number) => hex(40, id);
export const blocksOfNumber = 25;
/** A block every two seconds. */
const timeOf = (block: number) =>
  new Date(Date.UTC(2026, 0, 1) + 2_000 * block).toISOString().replace('Z', '000Z');

/** Higher first, by each part of a place in turn. */
const descending = (a: readonly number[], b: readonly number[]) => {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at === -1 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
};

interface Placed {
  readonly place: readonly number[];
  readonly token: string;
  readonly item: object;
}

const placedBundle = ({ block_number, transaction, bundle_index }: Bundle): Placed => ({
  place: [block_number, transaction, bundle_index],
  token: `${block_number},${hashOf(transaction)},${bundle_index}`,
  item: {
    transaction_hash: hashOf(transaction),
    bundle_index,
    block_number,
    bundler: { hash: addressOf(1 + (transaction % 7)) },
    timestamp: timeOf(block_number),
    total_ops: 1 + (transaction % 5),
  },
});

const placedBundler = ({ id, total_ops }: Bundler): Placed => ({
  place: [total_ops, id],
  token: `${total_ops},${addressOf(id)}`,
  item: { address: { hash: addressOf(id) }, total_ops, total_bundles: Math.ceil(total_ops / 2) },
});

/** A place as a token names it; the token's item need not be listed. */
const placeOf = (token: string) => token.split(',').map(Number);

/** A page of a list, from the place that `page_token` names on. */
function page(list: readonly Placed[], query: URLSearchParams): Answer {
  const token = query.get('page_token');
  const size = Number(query.get('page_size') ?? 50);
  const rest = list
    .toSorted((a, b) => descending(a.place, b.place))
    .filter(({ place }) => token === null || descending(place, placeOf(token)) >= 0);
  const next = rest[size];
  return {
    body: {
      items: rest.slice(0, size).map(({ item }) => item),
      next_page_params: next === undefined ? null : { page_token: next.token, page_size: size },
    },
  };
}

/** A page of the blocks of a number: each has as many, and none is above the newest number. */
function pageOfNumber(number: number, newest: number, query: URLSearchParams): Answer {
  const [size, below] = ['items_count', 'block_number'].map((name) => Number(query.get(name)));
  const blocks = Array.from({ length: number > newest ? 0 : blocksOfNumber }, (_, index) => {
    const height = number * blocksOfNumber - index;
    return {
      height,
      hash: hashOf(height),
      parent_hash: hashOf(height - 1),
      timestamp: timeOf(height),
      is_pending_update: false,
    };
  }).filter(({ height }) => !query.has('block_number') || height < (below ?? 0));
  const items = blocks.slice(0, size);
  const last = items.at(-1);
  const isLast = last === undefined || items.length === blocks.length;
  return {
    body: {
      items,
      next_page_params: isLast ? null : { block_number: last.height, items_count: items.length },
    },
  };
}

/** Serves the toy lists of any chain, and the blocks of Optimism batches beside those of the toy numbers; a test changes what they hold. */
export async function serveToys() {
  const lists = {
    bundles: [] as Bundle[],
    bundlers: [] as Bundler[],
    newestNumber: 0,
    newestBatch: 0,
  };
  const service = await answering(({ pathname, searchParams }) => {
    if (pathname.endsWith('/toy/bundles'))
      return page(lists.bundles.map(placedBundle), searchParams);
    if (pathname.endsWith('/toy/bundlers')) {
      return page(lists.bundlers.map(placedBundler), searchParams);
    }
    const [, path, number] =
      /\/(toy\/numbers|blocks\/optimism-batch)\/(\d+)$/u.exec(pathname) ?? [];
    if (number !== undefined) {
      const newest = path === 'toy/numbers' ? lists.newestNumber : lists.newestBatch;
      return pageOfNumber(Number(number), newest, searchParams);
    }
    return { status: 404, body: { message: 'Not found' } };
  });
  return { ...service, lists };
}
