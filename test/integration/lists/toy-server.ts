import { type ListForm, type StatedItem } from '../../../simulator/index.ts';
import { plainChain, simulated } from '../../harness/explorer.ts';
import { addressOf, hashOf, timeOf } from '../../harness/kept.ts';

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

const bundleItem = ({ block_number, transaction, bundle_index }: Bundle): StatedItem => ({
  value: block_number,
  key: `${hashOf(transaction)},${bundle_index}`,
  printed: {
    transaction_hash: hashOf(transaction),
    bundle_index,
    block_number,
    bundler: { hash: addressOf(1 + (transaction % 7)) },
    timestamp: timeOf(block_number),
    total_ops: 1 + (transaction % 5),
  },
});

const bundlerItem = ({ id, total_ops }: Bundler): StatedItem => {
  const hash = addressOf(id);
  const printed = { address: { hash }, total_ops, total_bundles: Math.ceil(total_ops / 2) };
  return { value: total_ops, key: hash, printed };
};

/** The blocks of a number: each has as many, and none is above the newest number. */
const blockItems = (number: number, newest: number): StatedItem[] =>
  Array.from({ length: number > newest ? 0 : blocksOfNumber }, (_, index) => {
    const height = number * blocksOfNumber - index;
    const printed = {
      height,
      hash: hashOf(height),
      parent_hash: hashOf(height - 1),
      timestamp: timeOf(height),
      is_pending_update: false,
    };
    return { value: height, key: '', printed };
  });

const tokens = { cursor: 'page_token', keyForm: '0x[0-9a-f]+(?:,\\d+)?' } as const;
const moreLists: Readonly<Record<string, ListForm>> = {
  'toy-bundles': { path: 'toy/bundles', paging: tokens },
  'toy-bundlers': { path: 'toy/bundlers', paging: tokens },
  'toy-numbers': { path: 'toy/numbers/([0-9]+)', paging: { cursor: 'block_number' } },
};

/** Serves the toy lists, and the blocks of Optimism batches beside those of the toy numbers; a test changes what they hold. */
export async function serveToys() {
  const lists = {
    bundles: [] as Bundle[],
    bundlers: [] as Bundler[],
    newestNumber: 0,
    newestBatch: 0,
  };
  const stated = (list: string, batch: number | null): StatedItem[] => {
    if (list === 'toy-bundles') return lists.bundles.map(bundleItem);
    if (list === 'toy-bundlers') return lists.bundlers.map(bundlerItem);
    return blockItems(batch ?? 0, list === 'toy-numbers' ? lists.newestNumber : lists.newestBatch);
  };
  const { url } = await simulated({ seed: 1, chains: [{ ...plainChain, stated }], moreLists });
  return { url, lists };
}
