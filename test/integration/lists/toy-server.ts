import { answering } from '../../harness/explorer.ts';
import {
  addressOf,
  hashOf,
  numberPage,
  type Placed,
  timeOf,
  tokenPage,
} from '../../harness/kept.ts';

export interface Bundle {
  readonly block_number: number;
  readonly transaction: number;
  readonly bundle_index: number;
}

export interface Bundler {
  readonly id: number;
  readonly total_ops: number;
}

export const blocksOfNumber = 25;
const placedBundle = ({ block_number, transaction, bundle_index }: Bundle): Placed => ({
  place: [block_number, hashOf(transaction), bundle_index],
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
  place: [total_ops, addressOf(id)],
  item: { address: { hash: addressOf(id) }, total_ops, total_bundles: Math.ceil(total_ops / 2) },
});

/** The blocks of a number: each has as many, and none is above the newest number. */
const placedBlocks = (number: number, newest: number): Placed[] =>
  Array.from({ length: number > newest ? 0 : blocksOfNumber }, (_, index) => {
    const height = number * blocksOfNumber - index;
    const item = {
      height,
      hash: hashOf(height),
      parent_hash: hashOf(height - 1),
      timestamp: timeOf(height),
      is_pending_update: false,
    };
    return { place: [height], item };
  });

/** Serves the toy lists of any chain, and the blocks of Optimism batches beside those of the toy numbers; a test changes what they hold. */
export async function serveToys() {
  const lists = {
    bundles: [] as Bundle[],
    bundlers: [] as Bundler[],
    newestNumber: 0,
    newestBatch: 0,
  };
  const service = await answering(({ pathname, searchParams: query }) => {
    const size = Number(query.get('page_size') ?? query.get('items_count') ?? 50);
    const token = query.get('page_token');
    if (pathname.endsWith('/toy/bundles')) {
      return { body: tokenPage(lists.bundles.map(placedBundle), token, size) };
    }
    if (pathname.endsWith('/toy/bundlers')) {
      return { body: tokenPage(lists.bundlers.map(placedBundler), token, size) };
    }
    const [, path, number] =
      /\/(toy\/numbers|blocks\/optimism-batch)\/(\d+)$/u.exec(pathname) ?? [];
    if (number === undefined) return { status: 404, body: { message: 'Not found' } };
    const newest = path === 'toy/numbers' ? lists.newestNumber : lists.newestBatch;
    const below = query.get('block_number');
    const blocks = placedBlocks(Number(number), newest);
    return { body: numberPage(blocks, { field: 'block_number', below, size }) };
  });
  return { ...service, lists };
}
